var ie=[3,4,5,6,7,8,9,10,11,13,15,17,19,23,27,31,35,43,51,59,67,83,99,115,131,163,195,227,258],ne=[0,0,0,0,0,0,0,0,1,1,1,1,2,2,2,2,3,3,3,3,4,4,4,4,5,5,5,5,0],re=[1,2,3,4,5,7,9,13,17,25,33,49,65,97,129,193,257,385,513,769,1025,1537,2049,3073,4097,6145,8193,12289,16385,24577],se=[16,17,18,0,8,7,9,6,10,5,11,4,12,3,13,2,14,1,15];function M(t){let e=new Array(16).fill(0);for(let n of t)e[n]++;e[0]=0;let i=[];for(let n=1;n<16;n++)for(let r=0;r<t.length;r++)t[r]===n&&i.push(r);return{counts:e,symbols:i}}var C=class{constructor(e,i){this.bytes=e,this.at=i,this.held=this.count=0}take(e){for(;this.count<e;){if(this.at>=this.bytes.length)throw new Error("the data end too soon");this.held|=this.bytes[this.at++]<<this.count,this.count+=8}let i=this.held&(1<<e)-1;return this.held>>>=e,this.count-=e,i}symbol({counts:e,symbols:i}){let[n,r,s]=[0,0,0];for(let a=1;a<16;a++){n|=this.take(1);let p=e[a];if(n-r<p)return i[s+n-r];s+=p,r=r+p<<1,n<<=1}throw new Error("the data are damaged")}},oe=[M(Array.from({length:288},(t,e)=>e<144?8:e<256?9:e<280?7:8)),M(new Array(30).fill(5))];function ae(t){let[e,i,n]=[t.take(5)+257,t.take(5)+1,t.take(4)+4],r=new Array(19).fill(0);for(let p=0;p<n;p++)r[se[p]]=t.take(3);let s=M(r),a=[];for(;a.length<e+i;){let p=t.symbol(s);if(p<16)a.push(p);else{let c=p===16?a[a.length-1]:0,l=p===16?3+t.take(2):p===17?3+t.take(3):11+t.take(7);for(let f=0;f<l;f++)a.push(c)}}return[M(a.slice(0,e)),M(a.slice(e))]}function P(t){let e=new C(t,2),i=new Uint8Array(4*t.length+1024),n=0,r=s=>{if(n+s<=i.length)return;let a=new Uint8Array(2*(n+s));a.set(i),i=a};for(let s=0;!s;){s=e.take(1);let a=e.take(2);if(a===0){e.held=e.count=0;let l=e.take(16);e.take(16),r(l),i.set(t.subarray(e.at,e.at+l),n),e.at+=l,n+=l;continue}if(a===3)throw new Error("the data are damaged");let[p,c]=a===1?oe:ae(e);for(let l=e.symbol(p);l!==256;l=e.symbol(p)){if(l<256){r(1),i[n++]=l;continue}let f=ie[l-257]+e.take(ne[l-257]),d=e.symbol(c),h=re[d]+e.take(d<2?0:(d>>1)-1);if(h>n)throw new Error("the data are damaged");r(f);for(let u=0;u<f;u++,n++)i[n]=i[n-h]}}return i.slice(0,n).buffer}var pe="PJITVIEW",le={i4:Int32Array,u1:Uint8Array,u4:Uint32Array,f8:Float64Array,s4:Uint32Array},O=class{constructor(e,i){this.bytes=e,this.ends=i,this.length=i.length,this.decoder=new TextDecoder}at(e){let i=e?this.ends[e-1]:0;return this.decoder.decode(this.bytes.subarray(i,this.ends[e]))}longest(){let e=0;for(let i=0,n=0;i<this.length;n=this.ends[i++])e=Math.max(e,this.ends[i]-n);return e}};function L(t){let e=new TextDecoder;if(e.decode(new Uint8Array(t,0,8))!==pe)throw new Error("this is no inspector data");let[i,n]=new Uint32Array(t,8,2);if(i!==1)throw new Error(`inspector data of version ${i}; this page reads version 1`);let r=JSON.parse(e.decode(new Uint8Array(t,16,n))),s=16+n,a=new Set,p=f=>f in r.columns,c=f=>{if(!p(f))return new Int32Array(0);let[d,h,u]=r.columns[f],m=new le[d](t,s+h,u);if(d!=="s4"||a.has(f))return m;a.add(f);for(let g=1;g<u;g++)m[g]+=m[g-1];return m};return{header:r,column:c,strings:f=>new O(c(f),c(`${f}.ends`)),has:p}}function N(t){let e=atob(t.trim()),i=new Uint8Array(e.length);for(let n=0;n<e.length;n++)i[n]=e.charCodeAt(n);return i}async function U(t){if(typeof DecompressionStream>"u")return P(t);let e=new Blob([t]).stream().pipeThrough(new DecompressionStream("deflate"));return await new Response(e).arrayBuffer()}var ce="http://www.w3.org/2000/svg";function q(t,e,i){for(let[n,r]of Object.entries(e))if(!(r==null||r===!1))if(n.startsWith("on"))t.addEventListener(n.slice(2),r);else if(n==="style")for(let[s,a]of Object.entries(r))t.style.setProperty(s,String(a));else t.setAttribute(n,r===!0?"":String(r));return t.append(...i.flat(1/0).filter(n=>n!=null&&n!==!1)),t}function o(t,e={},...i){return q(document.createElement(t),e,i)}function b(t,e={},...i){return q(document.createElementNS(ce,t),e,i)}function D(t){let e=!1;return()=>{e||(e=!0,requestAnimationFrame(()=>{e=!1,t()}))}}var H=`.pjit-inspector,
:root {
  --text: #1f2328;
  --dim: #59626d;
  --line: #7f8894;
  --rule: #d9dde2;
  --bg: #fff;
  --panel: #f4f5f7;
  --picked: #e6f0fc;
  --strong: #cfe3fa;
  --hover: #ebedf0;
  --ax-0: #0b7a75;
  --ax-1: #b04a06;
  --ax-2: #a3286c;
  --ax-3: #56700b;
  --ax-many: #6a4bc0;
  --ax-none: #5f6772;
  --select: #0b63c4;
  --note: #a32a1c;
  --ui: system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif;
  --code: ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace;
  color-scheme: light dark;
}
@media (prefers-color-scheme: dark) {
  :root:not([data-theme="light"]),
  :root:not([data-theme="light"]) .pjit-inspector,
  :host .pjit-inspector {
    --text: #e6e8eb;
    --dim: #a2abb6;
    --line: #6d7682;
    --rule: #343941;
    --bg: #16181c;
    --panel: #1f2227;
    --picked: #16304d;
    --strong: #1d426b;
    --hover: #2a2e34;
    --ax-0: #4cc9bf;
    --ax-1: #f0a05a;
    --ax-2: #f08ac0;
    --ax-3: #b3c95a;
    --ax-many: #b9a0f5;
    --ax-none: #a5adb8;
    --select: #6cb2ff;
    --note: #ff9d8f;
  }
}
:root[data-theme="light"] {
  color-scheme: light;
}
:root[data-theme="dark"],
:root[data-theme="dark"] .pjit-inspector,
.pjit-inspector.dark {
  --text: #e6e8eb;
  --dim: #a2abb6;
  --line: #6d7682;
  --rule: #343941;
  --bg: #16181c;
  --panel: #1f2227;
  --picked: #16304d;
  --strong: #1d426b;
  --hover: #2a2e34;
  --ax-0: #4cc9bf;
  --ax-1: #f0a05a;
  --ax-2: #f08ac0;
  --ax-3: #b3c95a;
  --ax-many: #b9a0f5;
  --ax-none: #a5adb8;
  --select: #6cb2ff;
  --note: #ff9d8f;
  color-scheme: dark;
}
.pjit-inspector.light {
  --text: #1f2328;
  --dim: #59626d;
  --line: #7f8894;
  --rule: #d9dde2;
  --bg: #fff;
  --panel: #f4f5f7;
  --picked: #e6f0fc;
  --strong: #cfe3fa;
  --hover: #ebedf0;
  --ax-0: #0b7a75;
  --ax-1: #b04a06;
  --ax-2: #a3286c;
  --ax-3: #56700b;
  --ax-many: #6a4bc0;
  --ax-none: #5f6772;
  --select: #0b63c4;
  --note: #a32a1c;
  color-scheme: light;
}
/* A widget stands in the notebook's own page and takes its background and fonts; its colours are checked on both
   themes. */
:host .pjit-inspector.light {
  --bg: var(--jp-layout-color0, #fff);
}
:host .pjit-inspector.dark {
  --bg: var(--jp-layout-color0, #16181c);
}
:host .pjit-inspector {
  --ui: var(--jp-ui-font-family, system-ui, sans-serif);
  --code: var(--jp-code-font-family, ui-monospace, monospace);
}
body:has(> #pjit-inspector) {
  margin: 0;
}
.pjit-inspector {
  container-type: inline-size;
  height: var(--pjit-height, 720px);
  background: var(--bg);
  color: var(--text);
  font: 12px/16px var(--ui);
  font-variant-numeric: tabular-nums;
  border: 1px solid var(--rule);
  box-sizing: border-box;
  overflow: hidden;
}
.pjit-inspector.page {
  height: 100vh;
  border: 0;
}
.pjit-inspector .frame {
  height: 100%;
  display: grid;
  overflow: hidden;
  position: relative;
  grid-template:
    "top top top" auto "list centre details" minmax(0, 1fr) "totals mesh details" 158px / 300px minmax(0, 1fr)
    360px;
}
.pjit-inspector.dragged .frame {
  height: calc(100% - 9px);
}
.pjit-inspector .heightbar {
  height: 9px;
  background: var(--panel);
  border-top: 1px solid var(--rule);
  cursor: ns-resize;
  touch-action: none;
}
.pjit-inspector .heightbar::before {
  content: "";
  display: block;
  width: 34px;
  height: 4px;
  margin: 2px auto;
  border: solid var(--line);
  border-width: 1px 0;
}
.pjit-inspector *,
.pjit-inspector *::before {
  box-sizing: border-box;
}
.pjit-inspector [hidden] {
  display: none !important;
}
.pjit-inspector .offscreen {
  position: absolute;
  left: -9999px;
  width: 1px;
  height: 1px;
  overflow: hidden;
}
.pjit-inspector code,
.pjit-inspector .code {
  font-family: var(--code);
  font-size: 11px;
  overflow-wrap: anywhere;
}
.pjit-inspector bdi {
  unicode-bidi: isolate;
}
.pjit-inspector p {
  margin: 0;
}
.pjit-inspector .dim {
  color: var(--dim);
}
.pjit-inspector .small {
  font-size: 11px;
  line-height: 15px;
}
.pjit-inspector b {
  font-weight: 600;
}
.pjit-inspector h2 {
  font: 600 14px/20px var(--ui);
  margin: 0;
  display: block;
}
.pjit-inspector h2.code {
  font-family: var(--code);
  font-size: 13px;
}
.pjit-inspector h2 .code,
.pjit-inspector h2 .axis {
  font-size: 14px;
}
.pjit-inspector h2 b.code {
  font-family: var(--ui);
}
.pjit-inspector summary {
  cursor: pointer;
  font-size: 11px;
  color: var(--dim);
}
.pjit-inspector h3,
.pjit-inspector h2.minor {
  font: 600 11px/16px var(--ui);
  margin: 0;
  color: var(--dim);
}
.pjit-inspector button,
.pjit-inspector select,
.pjit-inspector input {
  font: inherit;
  color: inherit;
}
.pjit-inspector :focus-visible {
  outline: 2px solid var(--select);
  outline-offset: -2px;
}
.ax-0 {
  --c: var(--ax-0);
}
.ax-1 {
  --c: var(--ax-1);
}
.ax-2 {
  --c: var(--ax-2);
}
.ax-3 {
  --c: var(--ax-3);
}
.ax-many {
  --c: var(--ax-many);
}
.ax-none {
  --c: var(--ax-none);
}
.pjit-inspector .axis {
  color: var(--c);
  font-family: var(--code);
  font-weight: 600;
  font-size: 0.95em;
}

.pjit-inspector .top {
  grid-area: top;
  padding: 8px 12px;
  border-bottom: 1px solid var(--rule);
  display: grid;
  gap: 4px;
  min-width: 0;
}
.pjit-inspector .title {
  display: flex;
  gap: 8px;
  justify-content: space-between;
  align-items: start;
}
.pjit-inspector .what {
  color: var(--dim);
  min-width: 0;
  margin: 0;
  font: inherit;
}
.pjit-inspector .stale {
  margin: 2px 0;
}
.pjit-inspector .stale[hidden] {
  display: none;
}
.pjit-inspector .what b {
  color: var(--text);
  font-size: 13px;
}
.pjit-inspector .buttons {
  display: flex;
  gap: 8px;
  flex: none;
}
.pjit-inspector .button,
.pjit-inspector .chip,
.pjit-inspector .note {
  background: var(--bg);
  border: 1px solid var(--rule);
  border-radius: 4px;
  padding: 1px 7px;
  font-size: 11px;
  cursor: pointer;
  white-space: nowrap;
}
.pjit-inspector span.note {
  cursor: default;
}
.pjit-inspector .button:hover,
.pjit-inspector .chip:hover {
  background: var(--hover);
}
.pjit-inspector [aria-pressed="true"] {
  border-color: var(--select) !important;
  background: var(--picked) !important;
}
.pjit-inspector .pictures {
  position: relative;
}
.pjit-inspector .picturemenu {
  position: absolute;
  right: 0;
  top: calc(100% + 4px);
  z-index: 30;
  padding: 4px 6px;
  background: var(--bg);
  border: 1px solid var(--line);
  border-radius: 4px;
  white-space: nowrap;
}
.pjit-inspector .pictureof {
  display: flex;
  gap: 4px;
  align-items: center;
  padding: 1px 0;
}
.pjit-inspector .pictureof span {
  flex: 1;
  padding-right: 12px;
}
.pjit-inspector .help {
  position: absolute;
  z-index: 40;
  inset: 8px max(8px, calc(50% - 360px)) auto;
  max-height: calc(100% - 16px);
  box-sizing: border-box;
  overflow: auto;
  padding: 12px 16px;
  background: var(--bg);
  border: 2px solid var(--select);
  border-radius: 8px;
  columns: 300px;
}
.pjit-inspector .helphead {
  display: flex;
  justify-content: space-between;
  column-span: all;
}
.pjit-inspector .help section {
  break-inside: avoid;
}
.pjit-inspector .help p {
  column-span: all;
}
.pjit-inspector .help dl {
  display: grid;
  grid-template-columns: 92px 1fr;
  gap: 4px 8px;
  margin: 4px 0;
}
.pjit-inspector .help dd {
  margin: 0;
}
.pjit-inspector kbd {
  font-family: var(--code);
}
.pjit-inspector .question {
  margin: 4px 0 8px;
  padding: 6px 10px;
  border: 1px dashed var(--line);
  border-radius: 4px;
  width: fit-content;
  max-width: 100%;
  overflow-x: auto;
}

.pjit-inspector .question p {
  margin: 0 0 4px;
}

.pjit-inspector .question table {
  border-collapse: collapse;
  font-variant-numeric: tabular-nums;
}

.pjit-inspector .question th {
  font-weight: normal;
  text-align: left;
  white-space: nowrap;
}

.pjit-inspector .question thead th {
  color: var(--dim);
}

.pjit-inspector .question :is(th, td) {
  padding: 1px 16px 1px 0;
}

.pjit-inspector .question .right {
  text-align: right;
}

/* Where there is room, a column for each figure: the page begins higher. */
@container (min-width: 1000px) {
  .pjit-inspector .question table,
  .pjit-inspector .question :is(thead, tbody) {
    display: flex;
  }
  .pjit-inspector .question tr {
    display: grid;
    grid-auto-rows: 20px;
    padding-right: 28px;
  }
  .pjit-inspector .question :is(th, td),
  .pjit-inspector .question .right {
    padding-right: 0;
    text-align: left;
  }
}

.pjit-inspector .answer {
  font-size: 14px;
  line-height: 20px;
  overflow-wrap: anywhere;
}
.pjit-inspector .again {
  overflow-wrap: anywhere;
}
.pjit-inspector .again summary {
  font-size: 12px;
  color: inherit;
}
.pjit-inspector .again ul {
  margin: 2px 0 4px;
  padding-left: 22px;
}
.pjit-inspector .notes {
  display: flex;
  flex-wrap: wrap;
  gap: 4px 6px;
  max-height: 74px;
  overflow-y: auto;
}
.pjit-inspector .note {
  max-width: min(480px, 100%);
  overflow: hidden;
  text-overflow: ellipsis;
  flex: none;
}
.pjit-inspector .mark {
  color: var(--note);
}

.pjit-inspector .tabs {
  display: flex;
  gap: 2px;
  align-items: center;
  height: 32px;
  padding: 0 8px;
}
.pjit-inspector .tabs button {
  border: 0;
  background: none;
  padding: 3px 6px;
  border-radius: 4px;
  cursor: pointer;
  color: var(--dim);
  white-space: nowrap;
}
.pjit-inspector .tabs button[aria-selected="true"] {
  background: var(--panel);
  color: var(--text);
  font-weight: 600;
}
.pjit-inspector .tabs .count,
.pjit-inspector .chip .count {
  font-size: 11px;
  font-weight: 400;
  color: var(--dim);
}
.pjit-inspector .panes {
  display: none;
}

.pjit-inspector .list {
  grid-area: list;
  display: flex;
  flex-direction: column;
  min-height: 0;
  min-width: 0;
  border-right: 1px solid var(--rule);
}
.pjit-inspector .list .tabs {
  border-bottom: 1px solid var(--rule);
  flex: none;
  gap: 0;
  padding: 0 4px;
}
/* Where there is no room, figures stand under their names: neither is cut. */
.pjit-inspector .list .tabs button {
  display: flex;
  flex-wrap: wrap;
  column-gap: 3px;
  padding: 2px 4px;
  min-width: min-content;
  line-height: 14px;
}
.pjit-inspector .filters {
  position: relative;
  border-bottom: 1px solid var(--rule);
  flex: none;
}
.pjit-inspector .filter {
  flex: 1 1 60px;
  min-width: 0;
  padding: 2px 6px;
  background: var(--bg);
  border: 1px solid var(--line);
  border-radius: 4px;
}
.pjit-inspector .facets {
  position: absolute;
  z-index: 4;
  top: 100%;
  left: 0;
  right: 0;
  display: grid;
  gap: 8px;
  padding: 8px;
  background: var(--bg);
  border-bottom: 1px solid var(--line);
  max-height: 320px;
  overflow-y: auto;
}
.pjit-inspector .status {
  display: flex;
  align-items: center;
  justify-content: space-between;
  padding: 0 6px 5px 8px;
  font-size: 11px;
}
.pjit-inspector .chips {
  display: flex;
  flex-wrap: wrap;
  gap: 4px;
}
.pjit-inspector .chips:empty {
  display: none;
}
.pjit-inspector .chip {
  display: inline-flex;
  align-items: center;
  gap: 4px;
}
.pjit-inspector .square {
  width: 9px;
  height: 9px;
  border-radius: 2px;
  background: var(--c);
}
.pjit-inspector .tools {
  display: flex;
  gap: 4px;
  align-items: center;
  min-width: 0;
  padding: 5px 6px;
}
.pjit-inspector .tools select {
  width: 78px;
  flex: none;
  padding: 1px 0;
}
.pjit-inspector .button.order {
  padding: 1px 6px;
  flex: none;
}
.pjit-inspector .rows {
  overflow-y: auto;
  flex: 1;
  min-height: 0;
  position: relative;
}
.pjit-inspector .row {
  position: relative;
  display: grid;
  grid-template-columns: 20px minmax(0, 1fr) auto;
  padding: 4px 10px 6px 12px;
  min-height: 43px;
  border-bottom: 1px solid var(--rule);
  cursor: pointer;
  column-gap: 4px;
}
.pjit-inspector .row .axisname {
  display: none;
}
.pjit-inspector .row:hover {
  background: var(--hover);
}
.pjit-inspector .row[aria-selected="true"] {
  background: var(--picked);
  box-shadow: inset 3px 0 var(--select);
}
.pjit-inspector .row .glyph {
  grid-row: span 2;
  margin-top: 2px;
  color: var(--c);
}
.pjit-inspector .row .name,
.pjit-inspector .row .sub {
  overflow: hidden;
  text-overflow: ellipsis;
  white-space: nowrap;
}
.pjit-inspector .row .sub,
.pjit-inspector .row .times {
  font-size: 11px;
  color: var(--dim);
}
/* Without a number beside it, what is beneath the name has the whole line. */
.pjit-inspector .row .sub:not(:has(+ .times)) {
  grid-column: 2 / -1;
}
.pjit-inspector .row .size,
.pjit-inspector .row .times {
  text-align: right;
}
.pjit-inspector .row .bar {
  position: absolute;
  left: 36px;
  bottom: 2px;
  height: 2px;
  background: var(--c);
  width: calc(var(--share) * (100% - 46px));
  min-width: 2px;
}
.pjit-inspector .glyph {
  fill: none;
  stroke: currentColor;
  stroke-width: 1.5;
  stroke-linejoin: round;
  vertical-align: -2px;
  flex: none;
}
.pjit-inspector .chip .glyph {
  stroke: var(--dim);
}
.pjit-inspector h2 .glyph {
  stroke: var(--c, currentColor);
  width: 15px;
  height: 15px;
}
.pjit-inspector .nothing {
  padding: 12px;
  color: var(--dim);
  overflow-wrap: anywhere;
}
.pjit-inspector .more {
  width: 100%;
  border: 0;
  background: none;
  padding: 8px;
  cursor: pointer;
  color: var(--select);
}

.pjit-inspector .details {
  grid-area: details;
  border-left: 1px solid var(--rule);
  overflow-y: auto;
  padding: 9px 12px;
  display: flex;
  flex-direction: column;
  gap: 6px;
  min-width: 0;
}
.pjit-inspector .details > * {
  flex: none;
}
.pjit-inspector .sub {
  color: var(--dim);
}
.pjit-inspector .marks {
  font-size: 11px;
  color: var(--dim);
}
.pjit-inspector .marks:empty {
  display: none;
}
.pjit-inspector .markchip + .markchip::before {
  content: "\\a0\\b7  ";
}
.pjit-inspector .cause {
  font-size: 12.5px;
  line-height: 18px;
  overflow-wrap: anywhere;
}
.pjit-inspector .cause code {
  background: var(--panel);
  border-radius: 3px;
  padding: 0 3px;
}
.pjit-inspector .facts,
.pjit-inspector .places,
.pjit-inspector .opcodes {
  margin: 0;
  padding-left: 14px;
  font-size: 11px;
  line-height: 16px;
  color: var(--dim);
  overflow-wrap: anywhere;
}
.pjit-inspector .places {
  padding-left: 0;
  list-style: none;
}
.pjit-inspector .places .line {
  display: block;
  white-space: pre-wrap;
  color: var(--text);
  padding-left: 8px;
}
.pjit-inspector .opcodes {
  columns: 2;
  padding-left: 0;
  list-style: none;
}
.pjit-inspector .link {
  border: 0;
  background: none;
  padding: 0;
  color: var(--select) !important;
  cursor: pointer;
  text-align: left;
  overflow-wrap: anywhere;
}
.pjit-inspector .pair {
  display: flex;
  align-items: start;
  gap: 4px;
}
.pjit-inspector .pair figure {
  flex: 1 1 0;
  min-width: 0;
}
.pjit-inspector figure {
  margin: 0;
}
.pjit-inspector figcaption {
  font-size: 11px;
  line-height: 15px;
}
.pjit-inspector .numbers {
  border-collapse: collapse;
  width: 100%;
}
.pjit-inspector .numbers tr {
  border-top: 1px solid var(--rule);
}
.pjit-inspector .numbers th,
.pjit-inspector .numbers td {
  padding: 3px 0;
  font-weight: 400;
  text-align: left;
}
.pjit-inspector .numbers .figure {
  text-align: right;
  padding-left: 6px;
  white-space: nowrap;
}
.pjit-inspector .numbers .unit {
  color: var(--dim);
  padding-left: 4px;
}
.pjit-inspector .numbers .how {
  text-align: right;
  color: var(--dim);
  font-size: 11px;
  padding-left: 8px;
}
.pjit-inspector .numbers .sum th,
.pjit-inspector .numbers .sum .figure {
  font-weight: 600;
}
.pjit-inspector .pairs {
  margin: 0;
  display: grid;
  grid-template-columns: auto minmax(0, 1fr);
  gap: 3px 12px;
}
.pjit-inspector .pairs dd {
  margin: 0;
  text-align: right;
  overflow-wrap: anywhere;
}
.pjit-inspector .names {
  color: var(--dim);
}
.pjit-inspector .picker {
  display: flex;
  gap: 12px;
  font-size: 11px;
}
.pjit-inspector .picker label {
  color: var(--dim);
}
.pjit-inspector select {
  background: var(--bg);
  border: 1px solid var(--rule);
  border-radius: 3px;
  font-size: 11px;
  max-width: 100%;
}
.pjit-inspector .sliders label {
  display: flex;
  gap: 6px;
  font-size: 11px;
  align-items: center;
}

.pjit-inspector .shards {
  max-width: 100%;
  height: auto;
  overflow: visible;
  font-size: 10.5px;
  display: block;
}
.shards text {
  text-anchor: middle;
  fill: var(--text);
}
.shards .dim {
  fill: var(--c, var(--dim));
}
.shards .dim.depth {
  text-anchor: end;
}
.shards .block {
  fill: var(--c);
  stroke: var(--c);
  stroke-width: 1;
}
.shards .empty {
  fill: none;
  stroke: var(--line);
  stroke-dasharray: 3 2;
}
.shards .edge,
.shards .copy {
  fill: none;
  stroke: var(--line);
}
.shards .partial {
  stroke: var(--c);
  stroke-dasharray: 3 2;
}
.shards .hatch {
  stroke: var(--c, var(--line));
  stroke-width: 1.1;
  stroke-opacity: 0.75;
}
.shards .ruler {
  stroke: var(--c);
  stroke-width: 2;
  fill: none;
}
.shards .label {
  fill: var(--bg);
  fill-opacity: 0.85;
}
.shards .ring {
  fill: none;
  stroke: var(--select);
  stroke-width: 2;
}

.pjit-inspector .centre {
  grid-area: centre;
  display: flex;
  flex-direction: column;
  min-width: 0;
  min-height: 0;
}
.pjit-inspector .centrebar {
  display: flex;
  align-items: center;
  justify-content: space-between;
  border-bottom: 1px solid var(--rule);
  flex: none;
  overflow-x: auto;
  scrollbar-width: none;
  height: 33px;
}
.pjit-inspector .textbar {
  display: flex;
  gap: 4px;
  padding-right: 8px;
}
.pjit-inspector .texts {
  flex: 1;
  min-height: 0;
  display: flex;
}
.pjit-inspector .textpane {
  flex: 1 1 0;
  display: flex;
  flex-direction: column;
  min-width: 0;
  min-height: 0;
}
.pjit-inspector .textpane.missing {
  flex: 0 1 170px;
}
.pjit-inspector .textpane + .textpane {
  border-left: 1px solid var(--rule);
}
.pjit-inspector .texthead {
  display: flex;
  gap: 8px;
  padding: 3px 8px;
  background: var(--panel);
  border-bottom: 1px solid var(--rule);
  font-size: 11px;
  align-items: center;
  min-width: 0;
  white-space: nowrap;
  flex: none;
  height: 24px;
}
.pjit-inspector .texthead .left {
  overflow: hidden;
  text-overflow: ellipsis;
}
.pjit-inspector .guess {
  border-bottom: 1px dotted currentColor;
  cursor: help;
  flex: none;
}
.pjit-inspector .scroll {
  flex: 1;
  overflow: auto;
  min-height: 0;
  contain: strict;
}
.pjit-inspector .details,
.pjit-inspector .rows,
.pjit-inspector .totals {
  contain: layout paint;
}
.pjit-inspector .space {
  position: relative;
  font: 11px/16px var(--code);
  text-rendering: optimizeSpeed;
  font-variant-ligatures: none;
}
.pjit-inspector .window {
  position: absolute;
  left: 0;
  right: 0;
  top: 0;
  will-change: transform;
}
.pjit-inspector .ln {
  height: 16px;
  white-space: pre;
  padding-right: 8px;
}
.pjit-inspector .ln .no {
  display: inline-block;
  width: 50px;
  padding-right: 10px;
  text-align: right;
  color: var(--dim);
  user-select: none;
}
.pjit-inspector .ln.linked {
  cursor: pointer;
}
.pjit-inspector .ln.hover {
  background: var(--hover);
}
.pjit-inspector .ln.of {
  background: var(--picked);
}
.pjit-inspector .ln.is .no {
  color: var(--text);
}
.pjit-inspector .ln.is {
  background: var(--strong);
  box-shadow: inset 3px 0 var(--select);
}
.pjit-inspector .ln.hit {
  outline: 2px solid var(--select);
  outline-offset: -2px;
}
.pjit-inspector .textbar .textsearch {
  width: 130px;
  flex: 0 1 130px;
}
.pjit-inspector .textbar .hits {
  align-self: center;
  font-size: 11px;
  white-space: nowrap;
}
.pjit-inspector .multiples {
  display: grid;
  grid-template-columns: repeat(auto-fill, minmax(112px, 1fr));
  gap: 8px;
}
.pjit-inspector .small-multiple {
  display: grid;
  gap: 1px;
  align-content: end;
  justify-items: start;
  border: 1px solid var(--rule);
  border-radius: 4px;
  background: none;
  padding: 4px 6px;
  text-align: left;
  cursor: pointer;
  min-width: 0;
  overflow: hidden;
}
.pjit-inspector .small-multiple:hover {
  background: var(--hover);
}
.pjit-inspector .traffic {
  flex: 1;
  min-height: 0;
  overflow: auto;
  display: flex;
  gap: 16px;
  padding: 12px;
  flex-wrap: wrap;
  align-content: flex-start;
}
.pjit-inspector .matrix .tip {
  min-height: 16px;
  font-size: 11px;
  margin-top: 4px;
}
.pjit-inspector .matrix {
  width: min-content;
}
.pjit-inspector .scale {
  display: flex;
  flex-wrap: wrap;
  gap: 2px 10px;
  margin-top: 6px;
  font-size: 11px;
  color: var(--dim);
}
.pjit-inspector .shade {
  display: inline-block;
  width: 12px;
  height: 12px;
  margin-right: 4px;
  vertical-align: -2px;
  background: var(--select);
  forced-color-adjust: none;
}
.pjit-inspector .busiest {
  width: 200px;
  display: grid;
  gap: 6px;
  align-content: start;
}

.pjit-inspector .totals {
  grid-area: totals;
  border-top: 1px solid var(--rule);
  border-right: 1px solid var(--rule);
  padding: 8px 10px;
  overflow-y: auto;
  min-width: 0;
}
.pjit-inspector .total {
  display: grid;
  grid-template-columns: minmax(60px, 88px) minmax(0, 1fr) minmax(64px, auto) minmax(90px, auto);
  gap: 6px;
  width: 100%;
  border: 1px solid transparent;
  border-radius: 3px;
  background: none;
  padding: 2px 2px;
  text-align: left;
  cursor: pointer;
  align-items: center;
}
.pjit-inspector .totals .total:hover {
  background: var(--hover);
}
.pjit-inspector .faded {
  opacity: 0.4;
}
.pjit-inspector .axisname {
  font: 11px/16px var(--code);
  overflow: hidden;
  text-overflow: ellipsis;
  white-space: nowrap;
}
.pjit-inspector .track {
  height: 9px;
}
.pjit-inspector .fill {
  display: block;
  height: 100%;
  background: var(--c);
  border-radius: 1px;
  min-width: 2px;
}
.pjit-inspector .total .figure {
  text-align: right;
}
.pjit-inspector .total .count {
  text-align: right;
  color: var(--dim);
}
.pjit-inspector .memory {
  margin-top: 6px;
  font-size: 11px;
  line-height: 15px;
}
.pjit-inspector .mesh {
  grid-area: mesh;
  border-top: 1px solid var(--rule);
  display: grid;
  grid-template-columns: minmax(0, 1fr) 168px;
  min-width: 0;
  min-height: 0;
}
.pjit-inspector .meshbox {
  min-width: 0;
  min-height: 0;
  overflow: hidden;
  position: relative;
  margin: 4px;
}
.pjit-inspector .meshbox canvas {
  position: absolute;
}
.pjit-inspector .meshside {
  padding: 4px 10px 4px 0;
  overflow-y: auto;
  display: grid;
  gap: 3px;
  align-content: start;
  font-size: 11px;
}
.pjit-inspector .meshside .tabs {
  padding: 0;
  height: 26px;
}
.pjit-inspector .meshwords {
  display: grid;
  gap: 2px;
  overflow-wrap: anywhere;
}
.pjit-inspector .folds {
  display: flex;
  flex-wrap: wrap;
  gap: 3px;
}

.pjit-inspector .meshtab {
  flex: 1;
  min-height: 0;
  display: flex;
  flex-direction: column;
}
.pjit-inspector .meshtab .mesh {
  flex: 1;
  border-top: 0;
}
.pjit-inspector .meshtab .totals {
  order: 1;
  flex: none;
  max-height: 45%;
  border-right: 0;
}
.pjit-inspector .centrebar [data-tab="mesh"] {
  display: none;
}

.pjit-inspector .frame.wide {
  grid-template: "top" auto "centre" minmax(0, 1fr) / minmax(0, 1fr);
}
.pjit-inspector .wide > .list,
.pjit-inspector .wide > .details,
.pjit-inspector .wide > .totals,
.pjit-inspector .wide > .mesh {
  display: none;
}
@container (max-width: 1200px) {
  .pjit-inspector .frame:not(.wide) .texts {
    flex-direction: column;
  }
  .pjit-inspector .frame:not(.wide) .textpane.missing {
    flex: 0 0 auto;
  }
  .pjit-inspector .frame:not(.wide) .textpane + .textpane {
    border-left: 0;
    border-top: 1px solid var(--rule);
  }
}
@container (min-width: 641px) and (max-width: 1400px) {
  .pjit-inspector .frame:not(.wide) {
    grid-template: "top top top" auto "list centre details" minmax(0, 1fr) / 268px minmax(0, 1fr) 312px;
  }
  .pjit-inspector .centrebar [data-tab="mesh"] {
    display: block;
  }
}
@container (min-width: 641px) and (max-width: 1100px) {
  .pjit-inspector .frame:not(.wide) {
    grid-template:
      "top top" auto "list centre" minmax(0, 2fr)
      "details centre" minmax(0, 3fr) / minmax(288px, 35%) minmax(0, 1fr);
  }
  .pjit-inspector .details {
    border-left: 0;
    border-right: 1px solid var(--rule);
    border-top: 1px solid var(--rule);
  }
  .pjit-inspector .mesh {
    grid-template-columns: minmax(0, 1fr) 140px;
  }
  /* One line for each row: what is beneath the name is in its tooltip and in the details. */
  .pjit-inspector .row {
    grid-template-columns: 18px minmax(0, 1fr) auto auto auto;
    min-height: 25px;
    padding: 4px 10px 4px 10px;
    column-gap: 6px;
    align-items: baseline;
  }
  .pjit-inspector .row .glyph {
    grid-row: auto;
    align-self: center;
    margin: 0;
  }
  .pjit-inspector .row .sub {
    display: none;
  }
  .pjit-inspector .row .axisname {
    display: inline;
    max-width: 84px;
  }
  .pjit-inspector .row .times {
    order: 1;
  }
  .pjit-inspector .row .size {
    order: 2;
    min-width: 58px;
  }
  .pjit-inspector .row .bar {
    left: 34px;
    bottom: 1px;
  }
}
@container (max-width: 640px) {
  .pjit-inspector .frame,
  .pjit-inspector .frame:not(.wide),
  .pjit-inspector .frame.wide {
    grid-template: "top" auto "panes" auto "pane" minmax(0, 1fr) / minmax(0, 1fr);
  }
  .pjit-inspector .frame.pane-centre.pane-centre {
    grid-template: "top" auto "panes" auto "pane" minmax(320px, 1fr) "why" minmax(96px, 236px) / minmax(0, 1fr);
    overflow-y: auto;
  }
  .pjit-inspector .frame.pane-centre > .details {
    display: flex;
    grid-area: why;
    border-top: 1px solid var(--rule);
  }
  .pjit-inspector .frame > .panes {
    display: flex;
    grid-area: panes;
    border-bottom: 1px solid var(--rule);
    overflow-x: auto;
  }
  .pjit-inspector .frame > section {
    grid-area: pane;
    border: 0;
    display: none;
  }
  .pjit-inspector .pane-list > .list,
  .pjit-inspector .pane-details > .details,
  .pjit-inspector .pane-centre > .centre {
    display: flex;
  }
  .pjit-inspector .frame.pane-mesh {
    grid-template: "top" auto "panes" auto "pane" minmax(0, 1fr) "sum" auto / minmax(0, 1fr);
  }
  .pjit-inspector .pane-mesh > .mesh {
    display: grid;
    grid-template: minmax(120px, 1fr) auto / minmax(0, 1fr);
  }
  .pjit-inspector .pane-mesh > .totals {
    display: block;
    grid-area: sum;
    border-top: 1px solid var(--rule);
    max-height: 180px;
  }
  .pjit-inspector .meshside {
    padding: 4px 12px;
    max-height: 160px;
  }
  .pjit-inspector .widen {
    display: none;
  }
  .pjit-inspector .top {
    padding: 6px 10px;
  }
}
@media (prefers-contrast: more) {
  /* 7 to 1 on every background */
  .pjit-inspector.pjit-inspector.pjit-inspector {
    --text: #000;
    --dim: #000;
    --line: #000;
    --rule: #000;
    --ax-0: #074f4c;
    --ax-1: #783204;
    --ax-2: #812055;
    --ax-3: #3b4d08;
    --ax-many: #4d378c;
    --ax-none: #42474f;
    --select: #08468b;
    --note: #862217;
  }
  :root[data-theme="dark"] .pjit-inspector.pjit-inspector.pjit-inspector,
  .pjit-inspector.dark.dark.dark {
    --text: #fff;
    --dim: #fff;
    --line: #fff;
    --rule: #fff;
    --ax-0: #a0e2dd;
    --ax-1: #f7cfab;
    --ax-2: #f8c9e2;
    --ax-3: #cfdd97;
    --ax-many: #dcd0fa;
    --ax-none: #d3d7dc;
    --select: #b8daff;
    --note: #ffcac3;
  }
  .pjit-inspector .row[aria-selected="true"],
  .pjit-inspector .ln.is {
    outline: 2px solid var(--select);
    outline-offset: -2px;
  }
}
@media (prefers-contrast: more) and (prefers-color-scheme: dark) {
  :root:not([data-theme="light"]) .pjit-inspector:not(.light):not(.light):not(.light),
  :host .pjit-inspector:not(.light):not(.light):not(.light) {
    --text: #fff;
    --dim: #fff;
    --line: #fff;
    --rule: #fff;
    --ax-0: #a0e2dd;
    --ax-1: #f7cfab;
    --ax-2: #f8c9e2;
    --ax-3: #cfdd97;
    --ax-many: #dcd0fa;
    --ax-none: #d3d7dc;
    --select: #b8daff;
    --note: #ffcac3;
  }
}
@media (forced-colors: active) {
  .pjit-inspector .row[aria-selected="true"],
  .pjit-inspector .ln.is,
  .pjit-inspector [aria-pressed="true"] {
    outline: 2px solid Highlight;
    outline-offset: -2px;
  }
  .pjit-inspector .tabs [aria-selected="true"] {
    border-bottom: 2px solid Highlight;
    border-radius: 0;
  }
  .pjit-inspector .faded {
    opacity: 1;
  }
  .pjit-inspector .fill,
  .pjit-inspector .square,
  .pjit-inspector .bar {
    forced-color-adjust: none;
  }
}
`;var R={"all-reduce":"M9.5 2.5H3l3.2 3.7L3 10h6.5","all-gather":"M1.8 1.8h8.4v8.4H1.8zM6 1.8v8.4M1.8 6h8.4","reduce-scatter":"M6 1.5v4M6 5.5L2 10M6 5.5l4 4.5M6 5.5V10","all-to-all":"M1.5 3h2.2l4.6 6h2.2M1.5 9h2.2l4.6-6h2.2M9 1.5L10.5 3 9 4.5M9 7.5L10.5 9 9 10.5","ragged-all-to-all":"M1.5 3h2.2l4.6 6h2.2M1.5 9h2.2l4.6-6h2.2","collective-permute":"M1.5 4h8M7.5 2l2 2-2 2M10.5 8h-8M4.5 6l-2 2 2 2","collective-broadcast":"M2 6h3M5 6l4-4M5 6h4.5M5 6l4 4",kernel:"M2 3h8v6H2z",array:"M2 2.5h8M2 6h8M2 9.5h8M2 2.5v7M10 2.5v7",line:"M2 3h8M2 6h5M2 9h7"};function z(t,e=""){let i=R[t]??R.kernel;return b("svg",{class:`glyph ${e}`,viewBox:"0 0 12 12",width:13,height:13,"aria-hidden":"true"},b("path",{d:i}))}function j(t,e){if(!t||!t.length)return"ax-none";if(t.length>1)return"ax-many";let i=e.indexOf(t[0].split(":(")[0]);return i<0||i>3?"ax-many":`ax-${i}`}function S(t,e,i,n){return o("span",{class:`axis ${j(e,n)}`},i===null?t:`${t} ${i}`)}var k=40;function W(t){let e=o("aside",{class:"details","aria-live":"polite"}),i=()=>{let n=t.pass===null?null:t.named(t.pass),r=t.row?he(t):n?me(t,n):ue(t);e.replaceChildren(...r.filter(s=>s!==null))};return t.listen(i),i(),e}function F(t){return o("button",{type:"button",class:"button",onclick:()=>t.clear()},"All passes")}function he(t){let e=t.row,i=t.first.lives[e.life],[n]=t.chosen,r=t.stages[n].number,s=t.named(r),a=i?i.events:[],p=i?i.gone?`gone at the end; last called ${i.name}`:`at the end ${i.name}`:"";return[F(t),o("h2",{class:j(e.axes,t.axes)},z(e.kind),` ${e.kind} over `,S(e.words,e.axes,null,t.axes)),o("p",{class:"dim small"},e.size?`${e.size} \xB7 `:"","after ",s?s.name:"no pass"," ",o("code",{},e.name),i?.name===e.name?null:[" \xB7 ",p]),o("ol",{class:"events"},a.map(c=>fe(t,c))),o("p",{},i?"":"What became of it is unknown.")]}function fe(t,e){let i=e.of.slice(0,k);return o("li",{class:`is-${e.kind}`},o("b",{},e.words),o("button",{type:"button",class:"link small",onclick:()=>t.choosePass(e.number),disabled:!t.named(e.number)},`${e.pass} \xB7 ${e.number}`),o("ul",{},i.map(n=>o("li",{},xe(t,n,e.kind!=="combined"))),e.of.length>k?o("li",{class:"dim"},`${e.of.length-k} more`):null))}function xe(t,e,i){let n=/\(([^()]+:\d+)\)$/.exec(e)?.[1],r=n&&i?t.first.sources[n]:"";return[o("code",{},e.replaceAll("`","")),r?o("pre",{class:"line"},r):null]}function me(t,e){let i=t.first.kernels.flatMap(([n,r,s])=>s.filter(([a])=>a===e.number).map(([,a])=>({name:n,kind:r,words:a}))).map(n=>({...n,words:n.words.replace(/^pass \d+, [^:]*: /,"")}));return[F(t),o("h2",{},o("span",{class:"dim"},`${e.number} `),o("span",{class:"code"},e.name)),e.sentence?o("p",{},e.sentence):o("p",{class:"dim"},"This pass is known by its name only."),e.file?o("p",{class:"small"},o("code",{},e.file),o("span",{class:"dim"}," in openxla/xla")):null,e.pipeline?o("p",{class:"dim small"},`in the pipeline ${e.pipeline}`):null,o("table",{class:"figures"},e.figures.map(([n,r])=>o("tr",{},o("th",{},n),o("td",{},r)))),e.did?o("p",{},o("b",{},e.did)):o("p",{class:"dim"},"It changed no collective."),i.length?o("h3",{},`${i.length} kernels and copies of the end that it made or changed`):null,o("ul",{class:"kernels"},i.slice(0,k).map(n=>o("li",{},o("code",{},n.name)," ",n.words)),i.length>k?o("li",{class:"dim"},`${i.length-k} more`):null)]}function ue(t){return[o("h2",{},"Every pass that changed the program"),o("ol",{class:"every"},t.passes.map(e=>o("li",{},o("button",{type:"button",class:"link",title:e.sentence,onclick:()=>t.choosePass(e.number)},o("span",{class:"dim number"},e.number),o("span",{class:"code"},e.name)),o("span",{class:"dim small"},e.figures[0][1]),e.did?o("b",{class:"small"},e.did):null)))]}function _(t){let{first:e}=t,i=e.axes.map(([n,r],s)=>[s?" \xD7 ":"",S(n,[n],r,t.axes)]);return o("header",{class:"top"},o("p",{class:"what"},o("b",{},e.name),` XLA's passes \xB7 ${e.what}`,i.length?[" \xB7 mesh ",i]:null),o("p",{class:"answer"},o("b",{},e.head),`; ${e.more}.`),e.known_by?o("p",{class:"dim small"},e.known_by):null)}var T=class{constructor(e){this.first=e,this.passes=e.passes,this.stages=e.stages.map(([n,r])=>({number:n,rows:r.map(([s,a,p,c,l,f,d])=>({kind:s,axes:a,words:p,parents:c,life:l,name:f,size:d}))})),this.axes=e.axes.map(([n])=>n),this.pass=null,this.chosen=null;let i=this.passes.filter(n=>n.did).at(-1)??this.passes[0];this.after=i?.number??0,this.before=this.numberBefore(this.after),this.data=null,this.programs=new Map,this.listeners=[]}listen(e){this.listeners.push(e)}tell(){for(let e of this.listeners)e()}open(e){this.data=e,this.tell()}numberBefore(e){return this.passes.filter(i=>i.number<e).at(-1)?.number??0}named(e){return this.passes.find(i=>i.number===e)??null}choosePass(e){this.pass=e,this.chosen=null,this.after=e,this.before=this.numberBefore(e),this.tell()}choose(e,i){this.chosen=[e,i],this.pass=null,this.tell()}compare(e,i){this.before=e,this.after=i,this.tell()}clear(){this.chosen=null,this.pass=null,this.tell()}get row(){return this.chosen?this.stages[this.chosen[0]].rows[this.chosen[1]]:null}get family(){let e=new Set;if(!this.chosen)return e;let[i,n]=this.chosen,r=new Set([n]);for(let s=i;s>=0;s--){for(let a of r)e.add(`${s} ${a}`);r=new Set([...r].flatMap(a=>this.stages[s].rows[a].parents))}r=new Set([n]);for(let s=i+1;s<this.stages.length;s++){let a=new Set;this.stages[s].rows.forEach((p,c)=>{p.parents.some(l=>r.has(l))&&a.add(c)});for(let p of a)e.add(`${s} ${p}`);r=a}return e}program(e){let i=this.programs.get(e);if(i)return i;let n=[];if(this.data?.has(`program.${e}`)){let r=this.data.strings("lines"),s=this.data.strings("wheres"),a=this.data.column("where"),p=0;for(let c of this.data.column(`program.${e}`)){p+=c;let l=r.at(p),f=l.replace(/^ROOT /,"").split(" = ")[0];n.push({text:l,where:s.at(a[p]),name:f.replace(/^%/,"")})}}return this.programs.set(e,n),n}key(e){if(e==="Escape")this.clear();else if(e==="["||e==="]")this.walkPasses(e==="]"?1:-1);else if(this.chosen&&e.startsWith("Arrow"))this.walk(e);else return!1;return!0}walkPasses(e){let i=this.passes.findIndex(r=>r.number===this.after),n=this.passes[Math.max(0,Math.min(this.passes.length-1,i+e))];n&&this.choosePass(n.number)}walk(e){if(!this.chosen)return;let[i,n]=this.chosen,r=this.stages[i].rows;if(e==="ArrowLeft"&&r[n].parents.length&&this.choose(i-1,r[n].parents[0]),e==="ArrowRight"&&i+1<this.stages.length){let s=this.stages[i+1].rows.findIndex(a=>a.parents.includes(n));s>=0&&this.choose(i+1,s)}if(e==="ArrowUp"||e==="ArrowDown"){let s=$(r,this.axes),a=s[s.indexOf(n)+(e==="ArrowDown"?1:-1)];a!==void 0&&this.choose(i,a)}}};function $(t,e){let i=n=>n.axes?.length?n.axes.length>1?98:e.indexOf(n.axes[0].split(":(")[0]):99;return t.map((n,r)=>r).sort((n,r)=>t[n].kind.localeCompare(t[r].kind)||i(t[n])-i(t[r])||t[n].life-t[r].life||n-r)}var v=104,E=96,ge=118,A=8,be=14,we=360;function V(t){let e=o("div",{class:"lanes"}),i=o("section",{class:"strip","aria-label":"Passes, and collectives through them"},e),n=0,s=D(()=>{let a=v+E+ge*t.stages.length;n=Math.max(i.clientWidth-2,Math.min(a,2400)),e.replaceChildren(...ve(t,n))});return new ResizeObserver(()=>i.clientWidth-2!==n&&s()).observe(i),t.listen(s),i}function ve(t,e){let{stages:i}=t,n=e-v-E,r=l=>v+n*(l+.5)/Math.max(1,i.length);if(!i.length)return[G(t,e,r),o("p",{class:"nothing"},"No pass made or changed a collective.")];let s=ke(t),a=b("svg",{width:e,height:s.height,class:t.chosen?"picture picked":"picture",role:"img","aria-label":t.first.head});for(let l of s.lanes)a.append(b("rect",{class:"lane",x:v,y:l.top-3,width:n,height:l.height+6}),...$e(l));let p=t.family;return a.append(...Me(t,s,r,p),...Se(t,s,r,p)),a.append(...Te(t,s,r(i.length-1))),[G(t,e,r),ye(t,e),a,o("p",{class:"dim small legend"},"One line is one collective as it was made; it keeps its height through every pass, so that what is thick was combined. A line that ends in \xD7 was removed."," ",je())]}function X(t){return Math.round(t*10)/10}function je(){let t=e=>o("kbd",{},e);return[t("\u2190"),t("\u2192")," what it was made of, and became; ",t("\u2191"),t("\u2193")," its neighbours; ",t("["),t("]")," the pass before and after; ",t("Esc")," all"]}function G(t,e,i){let{passes:n,stages:r,first:s}=t,a=c=>v+(e-v-E)*(c+.5)/Math.max(1,s.written),p=b("svg",{width:e,height:46,class:"ticks",role:"group","aria-label":"All passes"});p.append(b("text",{x:4,y:13},`${n.length} of ${s.written}`),b("text",{x:4,y:26,class:"faint"},"steps changed it"),b("path",{class:"every",d:Array.from({length:s.written},(c,l)=>`M${X(a(l))} 9v4`).join("")})),r.forEach((c,l)=>{let[f,d]=[a(c.number),i(l)];p.append(b("path",{class:"lead",d:`M${f} 18C${f} 34 ${d} 26 ${d} 44`}))});for(let c of n){let l=a(c.number),f=[c.did?"tick did":"tick",c.number===t.after?"now":""],d=b("g",{class:f.join(" "),onclick:()=>t.choosePass(c.number)},b("title",{},`${c.number} ${c.name}${c.did?`: ${c.did}`:""}`),b("rect",{class:"reach",x:l-3,y:0,width:6,height:20}),b("rect",{x:l-1,y:4,width:2,height:14}));p.append(d)}return p}function ye(t,e){let i=t.stages.map(r=>{let s=t.named(r.number);return o("button",{type:"button",class:"column","data-pass":r.number,"aria-pressed":t.pass===r.number?"true":"false",disabled:!s,title:s?.sentence,onclick:()=>s&&t.choosePass(r.number)},o("span",{},o("span",{class:"dim"},`${r.number} `),s?s.name:"before all passes"),o("b",{},s?s.did:"as the program was written"))}),n={width:`${e}px`,padding:`0 ${E}px 4px ${v}px`,"grid-template-columns":`repeat(${i.length}, minmax(0, 1fr))`};return o("div",{class:"columns",style:n},i)}function ke(t){let{stages:e}=t,i=[];for(let[d,h]of e.entries()){let u=d?e[d-1].rows.map(()=>0):[];for(let m of h.rows)for(let g of m.parents)u[g]+=1;i.push(h.rows.map(m=>m.parents.length?m.parents.reduce((g,x)=>g+i[d-1][x]/u[x],0):1))}let n=[...new Set(e.flatMap(d=>d.rows.map(h=>h.kind)))].sort(),r=n.map(d=>e.map((h,u)=>h.rows.reduce((m,g,x)=>m+(g.kind===d?i[u][x]:0),0))),s=r.reduce((d,h)=>d+Math.max(...h),0)||1,a=Math.max(.6,Math.min(9,we/s)),p=a>=3?1.5:a>=1.5?.5:0,c=8,l=n.map((d,h)=>{let u=Math.max(Math.max(...r[h])*a,14),m=x=>e[x]?.rows.filter(w=>w.kind===d).length??0,g={kind:d,top:c,height:u,first:Math.max(...e.map((x,w)=>m(w))),last:m(e.length-1)};return c+=u+be,g}),f=e.map((d,h)=>{let u=new Map(l.map(x=>[x.kind,x.top])),m=[],g=[];for(let x of $(d.rows,t.axes)){let{kind:w}=d.rows[x];m[x]=u.get(w)??0,g[x]=Math.max(.5,i[h][x]*a-p),u.set(w,m[x]+i[h][x]*a)}return{y:m,high:g}});return{lanes:l,columns:f,height:c,taken:f.map(d=>d.y.map(()=>0))}}function $e(t){let e=t.top+9,i=z(t.kind);i.setAttribute("x","2"),i.setAttribute("y",String(e-10));let n=t.first===t.last?`${t.last}`:`${t.first} \u2192 ${t.last}`,r=t.height<26;return[i,b("text",{x:18,y:e},t.kind.replace("collective-","")),b("text",{x:r?v-6:18,y:r?e:e+13,class:r?"faint right":"faint"},n)]}function*Me(t,e,i,n){for(let r=1;r<t.stages.length;r++){let[s,a]=[e.columns[r-1],e.columns[r]],p=t.stages[r].rows,c=s.y.map(()=>0);for(let d of p)for(let h of d.parents)c[h]+=1;let[l,f]=[i(r-1)+A/2,i(r)-A/2];for(let d of $(p,t.axes)){let h=p[d],u=$(t.stages[r-1].rows,t.axes),m=h.parents.length>1?u.filter(w=>h.parents.includes(w)):h.parents,g=m.reduce((w,y)=>w+s.high[y]/c[y],0)||1,x=a.y[d];for(let w of m){let y=s.high[w]/c[w],Z=s.y[w]+e.taken[r-1][w];e.taken[r-1][w]+=y;let I=a.high[d]*y/g,Q=t.stages[r-1].rows[w],ee=m.length>1||Q.kind!==h.kind,te=n.has(`${r-1} ${w}`)&&n.has(`${r} ${d}`);yield b("path",{class:`ribbon ${j(h.axes,t.axes)}${ee?" changed":""}${te?" own":""}`,d:Ae(l,Z,y,f,x,I)}),x+=I}}for(let[d,h]of c.entries())h||(yield*ze(t,r-1,d,s,l))}}function Ae(t,e,i,n,r,s){let a=(t+n)/2,p=(...c)=>c.map(X).join(" ");return`M${p(t,e)}C${p(a,e,a,r,n,r)}V${p(r+s)}C${p(a,r+s,a,e+i,t,e+i)}Z`}function*ze(t,e,i,n,r){let s=n.y[i]+n.high[i]/2,a=j(t.stages[e].rows[i].axes,t.axes);yield b("path",{class:`end ${a}`,d:`M${r} ${s}h18m-3 -3l6 6m0 -6l-6 6`})}function*Se(t,e,i,n){for(let[r,s]of t.stages.entries()){let{y:a,high:p}=e.columns[r];for(let[c,l]of s.rows.entries()){let f=n.has(`${r} ${c}`),d=t.chosen?.[0]===r&&t.chosen[1]===c;yield b("rect",{class:`node ${j(l.axes,t.axes)}${f?" own":""}${d?" chosen":""}`,"data-node":`${r} ${c}`,x:i(r)-A/2,y:a[c],width:A,height:p[c],onclick:()=>t.choose(r,c)},b("title",{},`${l.name} (${l.kind}) over ${l.words}${l.size?`, ${l.size}`:""}`))}}}function*Te(t,e,i){let n=t.stages.at(-1),r=e.columns.at(-1);if(!n||!r)return;let s=0;for(let a of $(n.rows,t.axes)){let p=r.y[a]+r.high[a]/2+4;p<s||!n.rows[a].size||(s=p+13,yield b("text",{x:i+A,y:p,class:"faint"},n.rows[a].size))}}var J=`/* XLA's passes: strip and lanes beside details, and the texts of two programs under them. */
.pjit-inspector {
  height: 100vh;
}
.pjit-inspector .frame.passes {
  grid-template:
    "top top" auto "strip details" minmax(240px, auto) "texts texts" minmax(200px, 1fr) / minmax(0, 1fr)
    330px;
  overflow: auto;
}
.pjit-inspector .frame.passes.bare {
  grid-template-rows: auto minmax(240px, 1fr) auto;
}
.passes .answer {
  font-size: 14px;
  line-height: 20px;
}
.passes .strip {
  grid-area: strip;
  overflow: auto;
  padding: 6px 0 4px;
  min-width: 0;
}
.passes .lanes {
  padding-left: 8px;
}
.passes svg {
  display: block;
}
.passes svg text {
  font: 11px var(--ui);
  fill: var(--text);
}
.passes svg text.faint {
  fill: var(--dim);
}
.passes svg text.right {
  text-anchor: end;
}
.passes .glyph path {
  fill: none;
  stroke: var(--dim);
  stroke-width: 1.3;
}
.passes .every {
  stroke: var(--rule);
}
.passes .tick {
  cursor: pointer;
  fill: var(--line);
}
.passes .tick .reach {
  fill: transparent;
}
.passes .tick.did {
  fill: var(--select);
}
.passes .tick.now rect:last-child {
  stroke: var(--select);
  stroke-width: 2;
}
.passes .lead {
  fill: none;
  stroke: var(--select);
  opacity: 0.6;
}
.passes .columns {
  display: grid;
  gap: 0 4px;
}
.passes .column {
  display: flex;
  flex-direction: column;
  align-items: center;
  background: none;
  border: 1px solid transparent;
  border-radius: 4px;
  padding: 1px 2px;
  cursor: pointer;
  font-size: 11px;
  line-height: 13px;
  text-align: center;
  overflow: hidden;
  overflow-wrap: anywhere;
}
.passes .column:disabled {
  cursor: default;
}
.passes .column:not(:disabled):hover {
  background: var(--hover);
}
.passes .lane {
  fill: var(--panel);
}
.passes .ribbon {
  fill: var(--c);
  opacity: 0.22;
  pointer-events: none;
}
.passes .ribbon.changed {
  opacity: 0.45;
}
.passes .end {
  fill: none;
  stroke: var(--c);
  stroke-width: 1.2;
}
.passes .node {
  fill: var(--c);
  cursor: pointer;
  stroke: transparent;
  stroke-width: 6px;
}
.passes .picked .ribbon:not(.own),
.passes .picked .node:not(.own),
.passes .picked .end {
  opacity: 0.1;
}
.passes .picked .ribbon.own {
  opacity: 0.6;
}
.passes .node.chosen {
  stroke: var(--select);
  stroke-width: 2px;
}
.passes .legend {
  padding: 2px 12px 4px 0;
}
.passes kbd {
  border: 1px solid var(--rule);
  border-radius: 3px;
  padding: 0 3px;
  margin-right: 2px;
}
.pjit-inspector .passes .details {
  grid-area: details;
  border-left: 1px solid var(--rule);
  padding: 8px 12px;
  overflow: auto;
  max-height: 640px;
  display: flex;
  flex-direction: column;
  gap: 6px;
  min-width: 0;
}
.passes .details > .button {
  align-self: start;
}
.passes .details h2 .glyph {
  display: inline;
}
.passes .link {
  background: none;
  border: 0;
  padding: 0;
  cursor: pointer;
  text-align: left;
  color: var(--dim);
}
.passes .link .code {
  color: var(--text);
}
.passes .link:not(:disabled):hover {
  text-decoration: underline;
}
.passes .events {
  list-style: none;
  margin: 0;
  padding: 0 0 0 6px;
}
.passes .events > li {
  border-left: 2px solid var(--rule);
  padding: 0 0 8px 14px;
  position: relative;
}
.passes .events > li::before {
  content: "";
  position: absolute;
  left: -6px;
  top: 3px;
  width: 8px;
  height: 8px;
  border: 2px solid var(--select);
  border-radius: 50%;
  background: var(--bg);
}
.passes .events > li.is-unknown::before {
  border-style: dashed;
  border-color: var(--line);
}
.passes .events > li.is-removed::before {
  border-color: var(--note);
}
.passes .events b {
  display: block;
}
.passes .events ul,
.passes .kernels {
  list-style: none;
  margin: 0;
  padding: 0;
}
.passes .kernels li {
  padding: 1px 0;
}
.passes pre.line {
  margin: 1px 0 3px;
  padding: 2px 6px;
  background: var(--panel);
  font: 11px/15px var(--code);
  overflow-x: auto;
}
.passes .figures {
  border-collapse: collapse;
}
.passes .figures th {
  font-weight: normal;
  text-align: left;
  color: var(--dim);
  padding: 1px 20px 1px 0;
}
.passes .figures td {
  text-align: right;
}
.passes ol.every {
  list-style: none;
  margin: 0;
  padding: 0;
}
.passes ol.every li {
  display: flex;
  flex-wrap: wrap;
  gap: 0 8px;
  justify-content: space-between;
  padding: 1px 0;
}
.passes ol.every .number {
  display: inline-block;
  min-width: 28px;
}
.passes ol.every li > b {
  flex: 100%;
  padding-left: 28px;
}
.passes .texts {
  grid-area: texts;
  border-top: 1px solid var(--rule);
  display: grid;
  grid-template-rows: auto minmax(0, 1fr);
  min-height: 0;
  min-width: 0;
}
.passes .texts .bar {
  display: flex;
  flex-wrap: wrap;
  gap: 6px 8px;
  align-items: center;
  padding: 5px 12px;
  background: var(--panel);
}
.passes .texts select {
  max-width: 220px;
}
.passes .texts select,
.passes .texts input {
  background: var(--bg);
  border: 1px solid var(--rule);
  border-radius: 4px;
  font-size: 11px;
  padding: 1px 4px;
}
.passes .texts input {
  margin-left: auto;
}
.passes .rows {
  overflow: auto;
  padding: 2px 12px 8px;
}
.passes .pair {
  display: grid;
  grid-template-columns: 116px minmax(0, 1fr) minmax(0, 1fr);
  gap: 0 12px;
  padding: 2px 0;
  border-bottom: 1px solid var(--rule);
}
.passes .pair .where {
  color: var(--dim);
  grid-row: 1;
  white-space: nowrap;
  overflow: hidden;
  text-overflow: ellipsis;
}
.passes .pair .source {
  grid-column: 2 / 4;
}
.passes .pair.is-gone .old {
  text-decoration: line-through;
  text-decoration-color: var(--note);
}
.passes .pair.is-new .new {
  background: var(--picked);
}
.passes mark {
  background: var(--strong);
  color: inherit;
  border-radius: 2px;
}
.passes .nothing {
  padding: 8px 12px;
}
@container (max-width: 760px) {
  .pjit-inspector .frame.passes {
    display: block;
  }
  .pjit-inspector .frame.passes > section {
    display: block;
  }
  .passes .rows {
    max-height: 480px;
  }
  .pjit-inspector .passes .details {
    border-left: 0;
    border-top: 1px solid var(--rule);
    max-height: 420px;
  }
  .passes .pair {
    grid-template-columns: minmax(0, 1fr);
  }
  .passes .pair .where,
  .passes .pair .source {
    grid-column: 1;
    grid-row: auto;
  }
}
`;function B(t){return String(t).replace(/\B(?=(\d{3})+(?!\d))/g,",")}var K=150;function Y(t){if(t.first.no_lines)return o("section",{class:"texts"},o("p",{class:"nothing"},t.first.no_lines));let e=K,i="",n=o("div",{class:"rows",tabindex:0,role:"region","aria-label":"Instructions that differ"}),r=o("span",{class:"dim"}),s=(h,u)=>{let m=o("select",{"aria-label":h,onchange:()=>u(Number(m.value))},o("option",{value:0},"before all passes"),t.passes.map(g=>o("option",{value:g.number},`${g.number} ${g.name}`)));return m},a=s("The earlier program",h=>t.compare(h,t.after)),p=s("The later program",h=>t.compare(t.before,h)),c=o("input",{type:"search",placeholder:"only lines with \u2026","aria-label":"Only lines with these letters",oninput:h=>{i=h.target.value,f()}}),l=(h,u,m)=>o("button",{type:"button",class:"button",title:m,onclick:()=>t.walkPasses(h)},u),f=()=>{if(a.value=String(t.before),p.value=String(t.after),!t.data)return;let h=Be(t,t.before,t.after),u=i?h.filter(x=>`${x.before}${x.after}${x.where}`.includes(i)):h,m=x=>B(h.filter(x).length);r.textContent=`${m(x=>x.before&&x.after)} changed, ${m(x=>!x.before)} new, ${m(x=>!x.after)} gone${i?`; ${B(u.length)} of them shown`:""}`;let g=o("button",{type:"button",class:"button",onclick:()=>{e+=1e3,f()}},`${B(u.length-e)} more`);n.replaceChildren(...u.slice(0,e).map(x=>Ce(t,x)),...u.length>e?[g]:[],...h.length?[]:[o("p",{class:"nothing"},"These two programs have the same instructions.")])},d=[-1,-1];return t.listen(()=>{(d[0]!==t.before||d[1]!==t.after)&&(e=K,n.scrollTop=0),d=[t.before,t.after],f()}),f(),o("section",{class:"texts","aria-label":"Two programs beside each other"},o("div",{class:"bar"},o("h2",{class:"minor"},"What differs"),l(-1,"\u25C0","the pass before"),a,"\u2192",p,l(1,"\u25B6","the next pass"),r,c),n)}function Be(t,e,i){let n=new Map(t.program(e).map(s=>[s.name,s])),r=[];for(let s of t.program(i)){let a=n.get(s.name);n.delete(s.name),a?.text!==s.text&&r.push({name:s.name,before:a?.text??"",after:s.text,where:s.where||a?.where||""})}for(let s of n.values())r.push({name:s.name,before:s.text,after:"",where:s.where});return r}function Ce(t,e){let i=t.first.sources[e.where]??"",[n,r]=Oe(e.before,e.after);return o("div",{class:`pair ${e.before?e.after?"is-changed":"is-gone":"is-new"}`},o("span",{class:"where code",title:i},e.where),o("code",{class:"side old"},n),o("code",{class:"side new"},r),i?o("span",{class:"source code dim"},i):null)}function Oe(t,e){if(!t||!e)return[t,e];let i=0;for(;i<t.length&&i<e.length&&t[i]===e[i];)i++;let n=0;for(;n<Math.min(t.length,e.length)-i&&t.at(-1-n)===e.at(-1-n);)n++;let r=s=>[s.slice(0,i),o("mark",{},s.slice(i,s.length-n)),s.slice(s.length-n)];return[r(t),r(e)]}function Ie(t,e){let i=new T(e),n=o("div",{class:e.no_lines?"frame passes bare":"frame passes"},_(i),V(i),W(i),Y(i));return t.classList.add("pjit-inspector"),t.replaceChildren(n),document.addEventListener("keydown",r=>{r.target instanceof HTMLElement&&/^(INPUT|SELECT|TEXTAREA)$/.test(r.target.tagName)||i.key(r.key)&&r.preventDefault()}),i}async function Pe(){let t=document.getElementById("pjit-inspector"),e=document.getElementById("pjit-first"),i=document.getElementById("pjit-blob");if(!t||!e||!i)return;let n=new URLSearchParams(location.hash.slice(1)).get("theme");n&&(document.documentElement.dataset.theme=n);let r=Ie(t,JSON.parse(e.textContent??""));try{r.open(L(await U(N(i.textContent??"")))),t.setAttribute("data-ready","true")}catch(s){t.append(o("p",{class:"nothing"},`The texts of this page could not be read: ${s}`))}}document.head.append(o("style",{},`${H}
${J}`));Pe();
