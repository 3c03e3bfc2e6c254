var Dt=[3,4,5,6,7,8,9,10,11,13,15,17,19,23,27,31,35,43,51,59,67,83,99,115,131,163,195,227,258],Ht=[0,0,0,0,0,0,0,0,1,1,1,1,2,2,2,2,3,3,3,3,4,4,4,4,5,5,5,5,0],Ut=[1,2,3,4,5,7,9,13,17,25,33,49,65,97,129,193,257,385,513,769,1025,1537,2049,3073,4097,6145,8193,12289,16385,24577],Gt=[16,17,18,0,8,7,9,6,10,5,11,4,12,3,13,2,14,1,15];function q(t){let e=new Array(16).fill(0);for(let r of t)e[r]++;e[0]=0;let i=[];for(let r=1;r<16;r++)for(let a=0;a<t.length;a++)t[a]===r&&i.push(a);return{counts:e,symbols:i}}var G=class{constructor(e,i){this.bytes=e,this.at=i,this.held=this.count=0}take(e){for(;this.count<e;){if(this.at>=this.bytes.length)throw new Error("the data end too soon");this.held|=this.bytes[this.at++]<<this.count,this.count+=8}let i=this.held&(1<<e)-1;return this.held>>>=e,this.count-=e,i}symbol({counts:e,symbols:i}){let[r,a,s]=[0,0,0];for(let o=1;o<16;o++){r|=this.take(1);let l=e[o];if(r-a<l)return i[s+r-a];s+=l,a=a+l<<1,r<<=1}throw new Error("the data are damaged")}},Kt=[q(Array.from({length:288},(t,e)=>e<144?8:e<256?9:e<280?7:8)),q(new Array(30).fill(5))];function Vt(t){let[e,i,r]=[t.take(5)+257,t.take(5)+1,t.take(4)+4],a=new Array(19).fill(0);for(let l=0;l<r;l++)a[Gt[l]]=t.take(3);let s=q(a),o=[];for(;o.length<e+i;){let l=t.symbol(s);if(l<16)o.push(l);else{let p=l===16?o[o.length-1]:0,d=l===16?3+t.take(2):l===17?3+t.take(3):11+t.take(7);for(let c=0;c<d;c++)o.push(p)}}return[q(o.slice(0,e)),q(o.slice(e))]}function tt(t){let e=new G(t,2),i=new Uint8Array(4*t.length+1024),r=0,a=s=>{if(r+s<=i.length)return;let o=new Uint8Array(2*(r+s));o.set(i),i=o};for(let s=0;!s;){s=e.take(1);let o=e.take(2);if(o===0){e.held=e.count=0;let d=e.take(16);e.take(16),a(d),i.set(t.subarray(e.at,e.at+d),r),e.at+=d,r+=d;continue}if(o===3)throw new Error("the data are damaged");let[l,p]=o===1?Kt:Vt(e);for(let d=e.symbol(l);d!==256;d=e.symbol(l)){if(d<256){a(1),i[r++]=d;continue}let c=Dt[d-257]+e.take(Ht[d-257]),h=e.symbol(p),u=Ut[h]+e.take(h<2?0:(h>>1)-1);if(u>r)throw new Error("the data are damaged");a(c);for(let m=0;m<c;m++,r++)i[r]=i[r-u]}}return i.slice(0,r).buffer}var Xt="PJITVIEW",Jt={i4:Int32Array,u1:Uint8Array,u4:Uint32Array,f8:Float64Array,s4:Uint32Array},K=class{constructor(e,i){this.bytes=e,this.ends=i,this.length=i.length,this.decoder=new TextDecoder}at(e){let i=e?this.ends[e-1]:0;return this.decoder.decode(this.bytes.subarray(i,this.ends[e]))}longest(){let e=0;for(let i=0,r=0;i<this.length;r=this.ends[i++])e=Math.max(e,this.ends[i]-r);return e}};function et(t){let e=new TextDecoder;if(e.decode(new Uint8Array(t,0,8))!==Xt)throw new Error("this is no inspector data");let[i,r]=new Uint32Array(t,8,2);if(i!==1)throw new Error(`inspector data of version ${i}; this page reads version 1`);let a=JSON.parse(e.decode(new Uint8Array(t,16,r))),s=16+r,o=new Set,l=c=>c in a.columns,p=c=>{if(!l(c))return new Int32Array(0);let[h,u,m]=a.columns[c],x=new Jt[h](t,s+u,m);if(h!=="s4"||o.has(c))return x;o.add(c);for(let w=1;w<m;w++)x[w]+=x[w-1];return x};return{header:a,column:p,strings:c=>new K(p(c),p(`${c}.ends`)),has:l}}function it(t){let e=atob(t.trim()),i=new Uint8Array(e.length);for(let r=0;r<e.length;r++)i[r]=e.charCodeAt(r);return i}async function nt(t){if(typeof DecompressionStream>"u")return tt(t);let e=new Blob([t]).stream().pipeThrough(new DecompressionStream("deflate"));return await new Response(e).arrayBuffer()}var Yt="http://www.w3.org/2000/svg",rt={ArrowDown:1,ArrowRight:1,ArrowUp:-1,ArrowLeft:-1};function at(t,e,i){for(let[r,a]of Object.entries(e))if(!(a==null||a===!1))if(r.startsWith("on"))t.addEventListener(r.slice(2),a);else if(r==="style")for(let[s,o]of Object.entries(a))t.style.setProperty(s,String(o));else t.setAttribute(r,a===!0?"":String(a));return t.append(...i.flat(1/0).filter(r=>r!=null&&r!==!1)),t}function n(t,e={},...i){return at(document.createElement(t),e,i)}function b(t,e={},...i){return at(document.createElementNS(Yt,t),e,i)}function st(t,e,i){return i?t.key in rt?Math.max(0,Math.min(i-1,e+rt[t.key])):t.key==="Home"?0:t.key==="End"?i-1:null:null}var ot=`.pjit-inspector,
:root {
  --ui: system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif;
  --code: ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace;
}
/* A widget stands in the notebook's own page and takes its background and fonts; its colours are checked on both
   themes. */
:host .pjit-inspector.pjit-inspector.light {
  --bg: var(--jp-layout-color0, #fff);
}
:host .pjit-inspector.pjit-inspector.dark {
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
    "top top top" auto "list centre details" minmax(0, 1fr) "mesh centre details" 176px / 330px minmax(0, 1fr)
    384px;
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
  grid-template-columns: minmax(0, 1fr);
  gap: 4px;
}
.pjit-inspector .title {
  display: flex;
  gap: 2px 8px;
  justify-content: space-between;
  align-items: center;
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
.pjit-inspector :is(.button, .chip, button.note) {
  background: var(--bg);
  border: 1px solid var(--rule);
  border-radius: 4px;
  padding: 1px 7px;
  font-size: 11px;
  cursor: pointer;
  white-space: nowrap;
}
.pjit-inspector :is(.button, .chip, button.note):hover {
  background: var(--hover);
}
.pjit-inspector .button.primary {
  background: var(--select);
  border-color: var(--select);
  color: var(--bg);
  font-weight: 600;
}
.pjit-inspector [aria-pressed="true"] {
  border-color: var(--select) !important;
  background: var(--picked) !important;
}
.pjit-inspector .pop {
  position: relative;
}
.pjit-inspector .menu {
  position: absolute;
  right: 0;
  top: calc(100% + 4px);
  z-index: 30;
  padding: 4px 6px;
  background: var(--bg);
  border: 1px solid var(--line);
  border-radius: 8px;
  white-space: nowrap;
}
.pjit-inspector .notes {
  display: grid;
  gap: 4px;
  width: min(520px, 100cqw - 24px);
  max-height: 420px;
  overflow-y: auto;
  padding: 8px;
}
.pjit-inspector .note {
  white-space: normal;
  overflow-wrap: anywhere;
  padding: 3px 7px;
  font-size: 12px;
  text-align: left;
}
.pjit-inspector .mark {
  color: var(--note);
}
/* One line, which keeps its height: what it has no room for is in its tooltip, and in a pane. */
.pjit-inspector :is(.said, .what) {
  overflow: hidden;
  text-overflow: ellipsis;
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
  grid-template-columns: 20px minmax(0, 1fr);
  padding: 4px 10px 6px 12px;
  min-height: 43px;
  border-bottom: 1px solid var(--rule);
  cursor: pointer;
  column-gap: 4px;
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
.pjit-inspector .row :is(.shapes, .times) {
  display: flex;
  gap: 3px;
  align-items: center;
  flex: none;
}
.pjit-inspector .row .size {
  flex: none;
}
.pjit-inspector .row :is(.name, .sub) {
  flex: 1;
}
.pjit-inspector .row .half {
  grid-column: 2 / -1;
  display: flex;
  gap: 6px;
  min-width: 0;
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
  fill: transparent;
  cursor: pointer;
}
.shards .ring.on {
  stroke: var(--select);
  stroke-width: 3;
}
.pjit-inspector .thumb {
  overflow: visible;
  flex: none;
}
.pjit-inspector .thumb.thumb.thumb rect {
  fill: var(--bg);
  stroke: var(--c);
}
.pjit-inspector .thumb.thumb.thumb .face {
  fill: var(--c);
}
.pjit-inspector .thumb.thumb.thumb .dashed {
  stroke-dasharray: 2 1.5;
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
  flex-wrap: wrap;
  align-items: center;
  justify-content: space-between;
  border-bottom: 1px solid var(--rule);
  flex: none;
  min-height: 33px;
}
.pjit-inspector .switch {
  display: flex;
  flex: none;
  margin-left: auto;
  padding-right: 8px;
}
.pjit-inspector .switch .button:first-child {
  border-radius: 4px 0 0 4px;
}
.pjit-inspector .switch .button:last-child {
  border-radius: 0 4px 4px 0;
}
.pjit-inspector .row.goes .bar {
  background: none;
  outline: 1px dashed var(--c);
}
.pjit-inspector .textbar {
  display: flex;
  flex-wrap: wrap;
  gap: 4px;
  padding: 3px 8px;
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
  border-right: 1px solid var(--rule);
  display: grid;
  grid-template: auto minmax(0, 1fr) / minmax(0, 1fr);
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
  order: -1;
  display: flex;
  gap: 8px;
  align-items: center;
  min-width: 0;
  padding: 2px 10px 0;
  font-size: 11px;
}
.pjit-inspector .meshside .tabs {
  padding: 0;
  height: 26px;
}
.pjit-inspector .meshwords {
  flex: 1;
}
.pjit-inspector .folds {
  display: flex;
  flex-wrap: wrap;
  gap: 3px;
}

.pjit-inspector .traffic > .totals {
  flex: 0 1 620px;
  padding: 0;
}
/* One device: nothing is split, nothing is sent. */
.pjit-inspector .single > .mesh,
.pjit-inspector .single > .panes [data-tab="mesh"] {
  display: none;
}
@container (min-width: 1101px) {
  .pjit-inspector .single > .list {
    grid-row: 2 / 4;
  }
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
    grid-template:
      "top top top" auto "list centre details" minmax(0, 1fr) "mesh centre details" 162px / 286px minmax(0, 1fr)
      312px;
  }
}
@container (min-width: 641px) and (max-width: 1100px) {
  .pjit-inspector .single > .details {
    grid-row: 3 / 5;
  }
  .pjit-inspector .frame:not(.wide) {
    grid-template:
      "top top" auto "list centre" minmax(0, 5fr) "details centre" minmax(0, 8fr)
      "mesh centre" 126px / minmax(288px, 35%) minmax(0, 1fr);
  }
  .pjit-inspector .details {
    border-left: 0;
    border-right: 1px solid var(--rule);
    border-top: 1px solid var(--rule);
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
  }
  .pjit-inspector .pane-mesh > .totals {
    display: block;
    grid-area: sum;
    border-top: 1px solid var(--rule);
    max-height: 180px;
  }
  .pjit-inspector .widen {
    display: none;
  }
  .pjit-inspector .top {
    padding: 6px 10px;
  }
  .pjit-inspector .title {
    flex-wrap: wrap;
  }
  .pjit-inspector .switch {
    flex: 1 0 100%;
    padding: 0 8px 4px;
  }
  .pjit-inspector .switch .button {
    flex: 1;
  }
}
@media (prefers-contrast: more) {
  .pjit-inspector .row[aria-selected="true"],
  .pjit-inspector .ln.is {
    outline: 2px solid var(--select);
    outline-offset: -2px;
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
`;var Qt=`
text #1f2328 #e6e8eb #000 #fff CanvasText
dim #59626d #a2abb6 #000 #fff CanvasText
line #7f8894 #6d7682 #000 #fff CanvasText
rule #d9dde2 #343941 #000 #fff CanvasText
bg #fff #16181c - - Canvas
panel #f4f5f7 #1f2227 - - Canvas
picked #e6f0fc #16304d - - Canvas
strong #cfe3fa #1d426b - - Canvas
hover #ebedf0 #2a2e34
ax-0 #0a7570 #4cc9bf #074f4c #a0e2dd CanvasText
ax-1 #b04a06 #f0a05a #783204 #f7cfab CanvasText
ax-2 #a3286c #f08ac0 #812055 #f8c9e2 CanvasText
ax-3 #56700b #b3c95a #3b4d08 #cfdd97 CanvasText
ax-many #6a4bc0 #b9a0f5 #4d378c #dcd0fa CanvasText
ax-none #5f6772 #a5adb8 #42474f #d3d7dc CanvasText
select #0b63c4 #6cb2ff #08468b #b8daff Highlight
note #a32a1c #ff9d8f #862217 #ffcac3
ph-0 #99a2ad #68717c - - CanvasText
ph-1 #c2c8cf #454c55 - - CanvasText
ph-2 #6a7380 #949da8 - - CanvasText
ph-3 #49515b #c0c7cf - - CanvasText
band #fafbfc #191c20 #fff #16181c Canvas
flow #59626d #a2abb6 #000 #fff CanvasText
in #a34a00 #ffb070 - - LinkText
out #0b57c4 #7db7ff - - Highlight
heat #0b57a4 #5aa2f0 - - Highlight
mem-0 #5c6673 #8b95a1
mem-1 #8b96a3 #616b77
mem-2 #a59a86 #857a66
mem-3 #3f74b5 #5b8fd0
mem-4 #c28a4a #b57d3d
mem-5 #8d78c4 #8f79c9
mem-6 #6f9f63 #5f9152
mem-7 #cbd1d8 #434a53
mem-rest #e4e7eb #30353c
mem-ink #fff #fff
scope-0 #1d4f8c #8fbaf0
scope-1 #5b8fd0 #3a6cab
scope-2 #2f6bb0 #6b9fdf
scope-3 #86aede #2c5284
scope-4 #3f7cc4 #5286c8
scope-5 #a9c6e9 #24436b
scope-6 #4f86c9 #4478b9
less #2e6f18 #9bd67f
more #b3261e #ff9d8f
less-fill #cfe9c0 #2b4a20
more-fill #f8cfca #572a26
ink #3a424c #c3cad2
held #9aa3ae #68717c
track #eef0f2 #262a30`,ct=Qt.trim().split(`
`).map(t=>t.split(" ")),$=t=>ct.map(e=>e[t]&&e[t]!=="-"?`--${e[0]}:${e[t]};`:"").join(""),V=":root:not([data-theme=light])",[te,lt]=["dark","light"].map(t=>`.pjit-inspector.pjit-inspector.${t}`),pt=`:root[data-theme=dark] .pjit-inspector,${te}`,ee=`${V},${V} .pjit-inspector,:host .pjit-inspector`,dt="@media (prefers-contrast:more)",ie={ax:"c",mem:"m",scope:"m"},ne=ct.map(([t])=>[t,ie[t.split("-")[0]]]).filter(([,t])=>t).map(([t,e])=>`.${t}{--${e}:var(--${t})}`),ut=`
${ne.join("")}
:root,.pjit-inspector{${$(1)}color-scheme:light dark}
@media (prefers-color-scheme:dark){${ee}{${$(2)}}}
:root[data-theme=light],${lt}{${$(1)}color-scheme:light}
:root[data-theme=dark],${pt}{${$(2)}color-scheme:dark}
${dt}{:root,.pjit-inspector.pjit-inspector,${lt}{${$(3)}}${pt}{${$(4)}}}
${dt} and (prefers-color-scheme:dark){${V} .pjit-inspector.pjit-inspector:not(.light),:host .pjit-inspector.pjit-inspector:not(.light){${$(4)}}}
@media (forced-colors:active){.pjit-inspector.pjit-inspector.pjit-inspector{${$(5)}}}
`;function y(t,e){if(!t||!t.length)return"ax-none";if(t.length>1)return"ax-many";let i=e.indexOf(t[0].split(":(")[0]);return i<0||i>3?"ax-many":`ax-${i}`}function ht(t,e){return t.map(i=>re(i,e))}function re(t,e){return typeof t=="string"?t:"strong"in t&&typeof t.strong=="string"?n("b",{},t.strong):"dim"in t?n("span",{class:"dim"},t.dim):"name"in t?n("b",{class:"code"},t.name):"code"in t?n("code",{},t.code):"axis"in t?ae(t.axis,t.axes,t.size,e):"number"in t?se(t):""}function ae(t,e,i,r){return n("span",{class:`axis ${y(e,r)}`},i===null?t:`${t} ${i}`)}function se(t){let e=t.unit?`${t.number}\xA0${t.unit}`:t.number,i=t.how==="counted"||!t.unit?void 0:t.how;return n(t.strong?"b":"span",{title:i},e)}var I=class{constructor(e,i){this.frame=e,this.say=i,this.list=null,this.key="",e.addEventListener("pointerdown",r=>{let a=r.composedPath()[0];this.list&&!this.list.contains(a)&&!this.button()?.contains(a)&&this.close(!1)})}button(){return[...this.frame.querySelectorAll("[data-key]")].find(e=>e.dataset.key===this.key)??null}open(e,i,r,a,s,o){let l=this.list&&this.key===e.dataset.key;if(this.close(!1),l)return;this.key=e.dataset.key??"";let p=Math.max(0,a),d=r.map((m,x)=>n("div",{role:"option",id:`pjit-option-${x}`,"aria-selected":String(x===a),"aria-disabled":m.allowed?null:"true",onclick:()=>h(x),onpointermove:()=>c(x)},n("span",{"aria-hidden":"true"},x===a?"\u2713":""),n("b",{class:m.axes?.length?`axis ${y(m.axes,s)}`:""},m.words),n("span",{class:"detail"},m.detail))),c=m=>{d[p].classList.remove("at"),p=m,d[p].classList.add("at"),u.setAttribute("aria-activedescendant",d[p].id)},h=m=>{if(!r[m].allowed){this.say(`${r[m].words}: ${r[m].detail}`),d[m].classList.remove("refuses"),requestAnimationFrame(()=>d[m].classList.add("refuses"));return}this.close(!0),m!==a&&o(r[m])},u=n("div",{class:"chooser",role:"listbox",tabindex:0,"aria-label":i,onkeydown:m=>{let x=st(m,p,r.length);if(x!==null)c(x);else if(m.key==="Enter"||m.key===" ")h(p);else if(m.key==="Escape"||m.key==="Tab")this.close(!0);else return;m.preventDefault(),m.stopPropagation()},onblur:()=>setTimeout(()=>this.list===u&&!this.holdsFocus()&&this.close(!1))},n("p",{class:"dim","aria-hidden":"true"},i),d);this.list=u,this.frame.append(u),e.setAttribute("aria-expanded","true"),this.place(e),c(p),u.focus({preventScroll:!0})}holdsFocus(){let e=this.frame.getRootNode();return this.list?.contains(e.activeElement)??!1}place(e){let{list:i,frame:r}=this;if(!i)return;let[a,s]=[e.getBoundingClientRect(),r.getBoundingClientRect()],o=Math.min(a.left-s.left,s.width-i.offsetWidth-6);i.style.left=`${Math.max(6,o)}px`,i.style.top=`${a.bottom-s.top+3}px`}close(e){let{list:i}=this;if(!i)return;this.list=null,i.remove();let r=this.button();r?.setAttribute("aria-expanded","false"),e&&r?.focus({preventScroll:!0})}};async function mt(t,e,i=t.data?.header.text){if(!i)return;let r=await oe(i)||le(i,e),a=e.dataset.words??e.textContent??"";e.dataset.words=a,e.textContent=r?"Copied":"Copying was refused",setTimeout(()=>{e.textContent=a},1500)}async function oe(t){let e=document.permissionsPolicy??document.featurePolicy;if(e&&!e.allowsFeature("clipboard-write"))return!1;try{return await navigator.clipboard.writeText(t),!0}catch{return!1}}function le(t,e){let i=n("textarea",{class:"offscreen","aria-hidden":"true"});i.value=t,e.after(i),i.select();try{return document.execCommand("copy")}catch{return!1}finally{i.remove(),e.focus()}}function S(t){return String(t).replace(/\B(?=(\d{3})+(?!\d))/g,",")}function M(t,e){return`${S(t)} ${e}${t===1?"":"s"}`}function g(t,e){let i=t.getRootNode(),r=i.activeElement&&t.contains(i.activeElement)?i.activeElement:null,a=r?.dataset.key;if(t.replaceChildren(...e.flat(1/0).filter(o=>o!=null&&o!==!1)),!r||i.activeElement===r)return;((a===void 0?null:[...t.querySelectorAll("[data-key]")].find(o=>o.dataset.key===a))??t.querySelector("[tabindex='0'], button, input, select"))?.focus({preventScroll:!0})}function f(t,e){let i="";return()=>{let r=JSON.stringify(t());r!==i&&(i=r,e())}}function v(t,e){return typeof t=="string"?t:ht(t??[],e)}var[pe,F]=[10,3];function W(t){return n("span",{class:t.changed?"line changed":"line"},t.changed?n("span",{class:"offscreen"},"changed: "):null,t.text||" ",t.changed?n("span",{class:"dim"},t.was?`  # was ${t.was}`:"  # new"):null)}function de(t){let e=[];for(let i=0;i<t.length;){let r=i;for(;r<t.length&&t[r].changed===t[i].changed;)r++;let a=t.slice(i,r);i=r,a[0].changed||a.length<pe?e.push(a.map(W)):e.push(a.slice(0,F).map(W),ce(a.slice(F,-F)),a.slice(-F).map(W))}return e}function ce(t){let e=n("button",{type:"button",class:"more",onclick:()=>e.replaceWith(...t.map(W))},`${M(t.length,"line")} more`);return e}var ue={equal:"\u2713 ",different:"\u25B2 ",untried:""};function gt(t,e){let i=!1,r=n("span",{class:"plain"}),a=n("span",{class:"right"}),s=n("pre",{class:"lines",tabindex:0,"aria-label":"Code to write"}),o=n("p",{class:"dim small proof"}),l=f(()=>[t.data.code,t.isLive],()=>{let{code:p}=t.data;r.textContent=p.words;let d=n("button",{type:"button",class:"button","data-key":"copy",onclick:()=>mt(null,d,p.text)},"Copy");g(a,p.text?[d]:[]),g(s,de(p.lines)),o.className=`dim small proof ${p.proof}`,g(o,[n("span",p.proof?{"data-key":"check",tabindex:-1}:{},ue[p.proof]??"",p.note),p.check&&t.isLive?he(t,p.check):null]),i&&p.proof&&e(p.note),i=p.check?.state==="running"});return t.listen(l),l(),n("section",{class:"part codepart"},n("h2",{class:"minor headline"},"Code to write ",r,a),s,o)}function he(t,e){let i=e.state==="running";return n("button",{type:"button",class:`button${i?" working":""}`,"data-key":"check","aria-disabled":i?"true":null,onclick:()=>i||t.send({type:"check"})},e.words)}var me=16,[ge,fe,xe,be]=[100,190,22,6.9],ft=new WeakMap,ye=330,z=(t,e)=>e.length*X(t)>ye;function X(t){let e=ft.get(t.data);if(e!==void 0)return e;let{groups:i,results:r,constraints:a}=t.data,l=[...i,...r,...a].flatMap(d=>[...d.dims,...(d.members??[]).flatMap(c=>c.dims??[])]).map(d=>(d.axes??[]).join("\xB7").length+S(d.size).length).reduce((d,c)=>Math.max(d,c),0),p=Math.round(Math.min(fe,Math.max(ge,xe+be*l)));return ft.set(t.data,p),p}function L(t,e,i){let r=t.spec(i.field,i.key,i.dims);return n("span",{class:`dims${i.isFree?" free":""}`},i.dims.map((a,s)=>we(t,e,i,s,{...a,axes:a.axes===null&&!t.isWaiting?null:r[s]})))}function we(t,e,i,r,a){let{axes:s}=t.data,o=a.axes===null?"?":a.axes.join("\xB7")||"\u2014",l=a.axes===null?i.isFree?"not known yet":"split as no axis is":a.axes.length?`over ${a.axes.join(", then ")}`:"on every device",p=[n("span",{class:"dimwords"},n("span",{class:"dim"},a.problem?n("span",{class:"mark"},"\u25B2"):null,S(a.size)),n("b",{class:a.axes?.length?`axis ${y(a.axes,s)}`:"dim"},o)),ve(a,s)],d=`${a.changed?", changed":""}${a.problem?", does not divide":""}`,c=`${i.name}, dimension ${r}, size ${a.size}: ${l}${i.isFree?", as XLA chooses":""}${d}`,h=`dimension${a.changed?" changed":""}${a.problem?" bad":""}`,u=a.axes?.length?`${S(a.size)} over ${a.axes.join(", then ")}`:null;if(!t.isLive)return n("span",{class:h,role:"img","aria-label":c,title:u},p);let m=`${i.field}:${i.id??i.key}:${r}`,x=k=>{let U=t.spec(i.field,i.key,i.dims).map((Ft,Wt)=>Wt===r?k.axes??[]:Ft);t.set({[i.field]:{[i.key]:U}})},w=n("button",{type:"button",class:h,"data-key":m,"aria-haspopup":"listbox","aria-expanded":"false","aria-label":c,title:u,onclick:()=>e.open(w,`dimension ${r} of ${i.name}`,a.choices,a.choices.findIndex(k=>k.axes.join()===(a.axes??["?"]).join()),s,x)},p);return w}function ve(t,e){let i=t.axes?.length?Math.min(me,Math.max(1,t.pieces)):0,r=Array.from({length:i},()=>n("i"));return n("span",{class:`ruler ${i?y(t.axes,e):"whole"}`,"aria-hidden":"true"},r)}function xt(t,e){let i=n("div",{class:"meshrow"}),r=n("p",{class:"dim small"}),a=n("div",{class:"problem",role:"alert",hidden:!0}),s=!1,o=f(()=>[t.mesh,t.wish.target,t.data.target,t.data.mesh_problem,t.data.mesh,s,t.isLive],()=>{let{mesh:d,data:c}=t,h=d.map(([m,x],w)=>[w?n("span",{class:"times","aria-hidden":"true"},"\xD7"):null,ke(t,m,x)]),u=d.reduce((m,[,x])=>m*x,1);g(i,[h,n("span",{class:"product"},"= ",n("b",{},S(u)),u===1?" device":" devices"),$e(t,e),t.isLive?s?je(t,p):l():null]),r.textContent=c.target.facts,r.hidden=!c.target.facts,a.hidden=!c.mesh_problem,g(a,c.mesh_problem?A(t,c.mesh_problem):[])}),l=()=>n("button",{type:"button",class:"button","data-key":"add-axis",onclick:()=>{s=!0,o(),i.querySelector("[data-key='axis-name']")?.focus()}},"Add axis"),p=()=>{s=!1,o(),i.querySelector("[data-key='add-axis']")?.focus()};return t.listen(o),o(),n("section",{class:"part"},n("h2",{class:"minor"},"Mesh and target"),i,r,a)}function ke(t,e,i){let{axes:r}=t.data,a=h=>{h>=1&&Number.isInteger(h)&&h!==s()&&t.set({mesh:t.mesh.map(([u,m])=>[u,u===e?h:m])})},s=()=>t.mesh.find(([h])=>h===e)?.[1]??i,o=()=>s()%2?s()-1:s()/2,l=t.data.mesh.find(h=>h.name===e)?.base??null,p=(h,u,m,x)=>n("button",{type:"button",tabindex:-1,"data-key":`${h}:${e}`,"aria-label":u,onclick:x},m),d=n("input",{"data-key":`axis:${e}`,role:"spinbutton",inputmode:"numeric",value:String(i),"aria-label":`devices along ${e}`,"aria-valuenow":i,"aria-valuemin":1,disabled:!t.isLive,onfocus:()=>d.select(),onchange:()=>{/^\d+$/.test(d.value)&&a(Number(d.value)),d.value=String(s())},onkeydown:h=>{if(h.key==="ArrowUp")a(2*s());else if(h.key==="ArrowDown")a(o());else if(h.key==="Enter")d.dispatchEvent(new Event("change"));else return;h.preventDefault()}}),c=t.isLive&&t.mesh.length>1?n("button",{type:"button",class:"drop","data-key":`drop:${e}`,title:`Drop the axis ${e}`,"aria-label":`Drop the axis ${e}`,onclick:()=>t.set({mesh:t.mesh.filter(([h])=>h!==e)})},"drop"):null;return n("span",{class:`axisbox ${y([e],r)}`},n("b",{class:"axis"},e),n("span",{class:`stepper${l!==null&&l!==i?" changed":""}`},t.isLive?p("less",`Halve ${e}`,"\u2212",()=>a(o())):null,d,t.isLive?p("more",`Double ${e}`,"+",()=>a(2*s())):null),c)}function je(t,e){let i=n("input",{class:"field","data-key":"axis-name",placeholder:"name","aria-label":"Name of the new axis","aria-describedby":"pjit-axis-wrong"}),r=n("span",{class:"wrong",id:"pjit-axis-wrong",role:"alert"}),a=()=>{let s=i.value.trim(),o=t.mesh.some(([l])=>l===s)?`the mesh has an axis ${s} already`:/^[A-Za-z_]\w*$/.test(s)?"":"a name is letters, digits and _, and begins with no digit";return r.textContent=o?`\u25B2 ${o}`:"",o?i.setAttribute("aria-invalid","true"):(e(),t.set({mesh:[...t.mesh,[s,2]]}))};return i.addEventListener("keydown",s=>{if(s.key==="Enter")a();else if(s.key==="Escape")e();else return;s.preventDefault(),s.stopPropagation()}),n("span",{class:"adder"},i,n("button",{type:"button",class:"button",onclick:a},"Add, size 2"),n("button",{type:"button",class:"button",onclick:e},"Cancel"),r)}function $e(t,e){let{target:i}=t.data,r=t.wish.target??i.words;if(!t.isLive)return n("span",{class:"targetchip"},r);let a=n("button",{type:"button",class:"targetchip","data-key":"target","aria-haspopup":"listbox","aria-expanded":"false",onclick:()=>e.open(a,"the machine it is for",i.options,i.options.findIndex(s=>s.value===i.value),[],s=>t.set({target:s.value}))},r," \u25BE");return a}function A(t,e){return[n("p",{},n("span",{class:"mark"},"\u25B2 "),v(e.words,t.data.axes)),e.remedies.length?n("div",{class:"chips"},e.remedies.map(i=>t.isLive&&i.set?n("button",{type:"button",class:"chip","data-key":`way:${i.words}`,onclick:()=>t.set(i.set)},i.words):n("span",{class:"chip"},i.words))):null]}function bt(t,e){let i=n("div",{class:"groups",role:"list"}),r=n("section",{class:"part"},n("h2",{class:"minor"},"Constraints"),i),a=f(()=>[t.data.constraints,t.data.axes,t.wish.constraints,t.isLive],()=>{r.hidden=!t.data.constraints.length,g(i,t.data.constraints.map(s=>Ce(t,e,s)))});return t.listen(a),a(),r}function Ce(t,e,i){let r=t.wish.constraints[i.key],a=r===void 0?i.on:r!==!1;return n("div",{class:`group${i.changed?" changed":""}${z(t,i.dims)?" wide":""}`,role:"listitem"},n("span",{}),n("span",{class:"name"},v(i.words,t.data.axes),n("span",{class:"dim small"},i.place)),i.dims.length&&a?L(t,e,{key:i.key,name:i.name,dims:i.dims,field:"constraints"}):n("span",{class:"dims"}),n("button",{type:"button",class:"tie",role:"switch","data-key":`constraint:${i.key}`,"aria-checked":String(a),"aria-label":i.new?`new constraint ${i.name}`:`constraint ${i.name}`,disabled:!t.isLive,onclick:()=>t.set({constraints:{[i.key]:!a}})},a?i.new?"take out":"on":"off"),i.problem?n("div",{class:"problem"},A(t,i.problem)):null)}var P=60;function yt(t,e){let i=n("div",{class:"groups",role:"list"}),r=n("button",{type:"button",class:"more",hidden:!0,onclick:()=>l()}),a=P,s=n("span",{class:"plain"},"a chooser for each dimension"),o=n("input",{class:"field",type:"search",placeholder:"filter","aria-label":"Show arguments whose name has these words",oninput:c=>{t.filter=c.target.value,a=P,d()}}),l=()=>{a+=4*P,d()},p=()=>{let c=t.filter.toLowerCase().split(/\s+/).filter(Boolean);return t.data.groups.filter(h=>c.every(u=>h.search.toLowerCase().includes(u)))},d=f(()=>[t.data.groups,[...t.loose],t.showsFollowers,t.data.axes,t.wish.specs,t.isWaiting,[...t.open],t.filter,a,t.isLive],()=>{s.hidden=!t.isLive;let c=p(),h=c.filter(k=>!J(t,k)),u=c.filter(k=>J(t,k)),m=t.showsFollowers||t.filter!==""||u.length<3,x=Math.max(0,h.length-a)+(m?Math.max(0,u.length-a):0),w=k=>k.slice(0,a).map(U=>Se(t,e,U,d));g(i,[w(h),u.length>=3&&!t.filter?Ee(t,m,d):null,m?w(u):null,c.length?null:n("p",{class:"nothing"},t.filter?"No argument has these words.":"No arguments.")]),r.hidden=!x,r.textContent=M(x,"more group")});return o.hidden=t.data.groups.length<8,t.listen(d),d(),n("section",{class:"part"},n("h2",{class:"minor headline"},"Arguments ",s,n("span",{class:"plain right"},"bytes per device")),n("div",{class:"tools"},o),i,r)}function J(t,e){return e.follows&&!t.loose.has(e.key)}function Ee(t,e,i){let r=()=>{t.showsFollowers=!t.showsFollowers,i()};return n("div",{class:"group followers",role:"listitem"},n("button",{type:"button",class:"opener wide","data-key":"followers","aria-expanded":String(e),onclick:r},e?"\u25BE ":"\u25B8 ",t.data.followers))}function Se(t,e,i,r){let a=t.open.has(i.key),s=()=>{a?t.open.delete(i.key):t.open.add(i.key),r()},o=i.members.length>1?n("button",{type:"button",class:"opener","data-key":`open:${i.key}`,"aria-expanded":String(a),"aria-label":`${a?"Fold":"Show"} the ${i.members.length+i.more_members} arrays of ${i.name}`,onclick:s},a?"\u25BE":"\u25B8"):n("span",{});return n("div",{class:`group${i.changed?" changed":""}${z(t,i.dims)?" wide":""}`,role:"listitem"},o,n("span",{class:"name"},n("code",{title:i.title},i.name),i.sub?n("span",{class:"dim small"},i.sub):null),Me(t,e,i,r),n("span",{class:"held"},i.held,n("span",{class:"dim small"},i.copies)),i.problem?n("div",{class:"problem"},A(t,i.problem)):null,a?Le(t,e,i):null)}function Me(t,e,i,r){let a=J(t,i),s=()=>{a?t.loose.add(i.key):t.loose.delete(i.key),i.follows||t.send({type:"follow",key:i.asks}),r()},o=i.can_follow?n("button",{type:"button",class:"tie",role:"switch","data-key":`follow:${i.key}`,"aria-checked":String(a),disabled:!t.isLive,title:a?"Cut it loose: give it a spec of its own":"Let it follow again","aria-label":`${i.name} follows ${i.can_follow}`,onclick:s},a?`as ${i.can_follow}`:"on its own"):null;if(a)return n("span",{class:"dims"},o);let l=i.dims.length?L(t,e,{id:i.key,key:i.asks,name:i.name,dims:i.dims,field:"specs"}):n("span",{class:"dims dim small"},i.scalar);return o?n("span",{class:"stack"},o,l):l}function Le(t,e,i){let r=i.more_members+Math.max(0,i.members.length-P);return n("div",{class:"members",role:"list","aria-label":`Arrays of ${i.name}`},i.members.slice(0,P).map(a=>Ae(t,e,i,a)),r?n("p",{class:"dim small"},M(r,"more array")):null)}function Ae(t,e,i,r){let a=t.spec("specs",i.asks,i.dims),s=i.dims.map((p,d)=>({...p,axes:p.axes===null?null:a[d]})),o=n("button",{type:"button",class:"back","data-key":`back:${r.key}`,"aria-label":`${r.name}: as the group`,title:"Split it as the others of the group are",onclick:()=>t.set({specs:{[r.key]:a}})},"back to the group"),l=r.dims!==null&&!r.as;return n("div",{class:`member${r.dims?" alone":""}`,role:"listitem"},n("span",{class:"name"},n("code",{},r.name),n("span",{class:"dim small"},r.as?`as ${r.as}`:l?"on its own":"",l&&t.isLive&&i.dims.every(p=>p.axes!==null)?[" ",o]:null)),i.dims.length?L(t,e,{key:r.key,name:r.name,dims:r.dims??s,field:"specs"}):null)}function H(t,e){if(!t)return n("span",{class:"bar","aria-hidden":"true"});let i=0,r=t.parts.map(([o,l,p])=>{let d=i;i+=o;let c=typeof l=="string"?l:y(l,e);return n("i",{class:`${c}${p?" hatched":""}`,style:{left:D(d),width:D(o)}})}),a=(o,l)=>o==null?null:n("i",{class:l,style:{left:D(o)}}),s=t.low?n("i",{class:"low",style:{width:D(t.low)}}):null;return n("span",{class:"bar","aria-hidden":"true"},n("span",{class:"track"},r),s,a(t.tick,"tick"),a(t.limit,"limit"))}var D=t=>`${Math.min(100,Math.max(0,100*t))}%`;var Te=1500;function wt(t){let e=n("h1",{class:"what"}),i=n("p",{class:"answer"}),r=n("div",{class:"buttons"}),a=f(()=>[t.data.title,t.data.answer,t.data.can_inspect,t.opening,t.isLive],()=>{let{title:s,answer:o,axes:l,can_inspect:p}=t.data;g(e,[v(s,l)]),g(i,[v(o,l)]);let d=n("button",{type:"button",class:"button","data-key":"inspect",disabled:!p,"aria-disabled":t.opening?"true":null,onclick:()=>t.openPage("inspect")},t.opening==="inspect"?"Opening the inspector \u2026":"Open inspector of this variant");g(r,t.isLive?[d]:[])});return t.listen(a),a(),n("div",{class:"top"},n("div",{class:"title"},e,r),i)}function vt(t){let e=[0,1,2].map(()=>n("section",{class:"number"})),i=n("div",{class:"numbers",role:"group","aria-label":"Bytes, memory and time"},e),r=f(()=>[t.data.numbers,t.isWaiting],()=>{let{numbers:s,axes:o}=t.data;i.setAttribute("aria-busy",String(t.isWaiting||s.some(l=>l.dim))),e.forEach((l,p)=>{let d=s[p];l.classList.toggle("old",d.dim||t.isWaiting),g(l,[n("h2",{class:"minor"},d.label),n("p",{class:"big"},d.problem?n("span",{class:"mark"},"\u25B2 "):null,d.approximate?n("span",{class:"approximate",title:"modelled, not counted"},"\u2248 "):null,d.value,d.unit?n("small",{},` ${d.unit}`):null,d.more?n("small",{},` ${d.more}`):null,d.change?[" ",n("span",{class:"change"},d.change)]:null),H(d.bar,o),n("p",{class:"known"},v(d.how,o))])})});t.listen(r),r();let a=()=>i.parentElement?.style.setProperty("--strip",`${i.offsetHeight}px`);return new ResizeObserver(a).observe(i),i}function kt(t){let e=n("ol",{class:"steps"}),i=n("span",{}),r=ze(t),a=n("label",{class:"against"}),s=f(()=>[t.data.stages,t.isWaiting],()=>g(e,t.data.stages.map(d=>n("li",{class:t.isWaiting?"todo":d.state,"aria-current":d.state==="now"?"step":null},d.words)))),o=f(()=>[t.data.full,t.isLive],()=>g(i,t.isLive?[Be(t)]:[])),l=f(()=>[t.data.bases,t.data.base],()=>{let{bases:d,base:c}=t.data,h=n("select",{"data-key":"base",onchange:u=>t.send({type:"base",number:Number(u.target.value)}),disabled:!t.isLive},d.map(([u,m])=>n("option",{value:u,selected:u===c},m)));g(a,["against ",h])}),p=()=>[s,o,l,r.draw].forEach(d=>d());return t.listen(p),p(),n("div",{class:"rail"},e,i,r.words,a)}function ze(t){let e=n("span",{class:"dim slow",role:"status"}),i=0;return{words:e,draw:()=>{t.isWaiting&&!i&&(i=setTimeout(()=>e.textContent="the kernel is busy; this is asked when it is free",Te)),!t.isWaiting&&(clearTimeout(i),i=0,e.textContent="")}}}function Be(t){let{full:e}=t.data;return e.state==="running"?n("button",{type:"button",class:"button","data-key":"full",onclick:()=>t.send({type:"stop"})},e.words):e.state!=="possible"?e.words?n("span",{class:"dim"},e.words):null:n("button",{type:"button",class:"button","data-key":"full",onclick:()=>t.send({type:"full"})},e.words)}var jt=40,_e=[["number","#"],["change","change"],["mesh","mesh"],["sent","sends"],["memory","memory"],["time","time"],["fits","fits"]],Ne=["sent","memory","time"];function $t(t){let e=n("span",{class:"plain"}),i=n("tr",{}),r=n("tbody",{onkeydown:c=>Re(t,r,c)}),a=n("p",{class:"dim small"}),s=n("p",{class:"problem lacks",role:"status",hidden:!0}),o=n("button",{type:"button",class:"more",hidden:!0}),l=jt,p=f(()=>[t.data.history,t.data.number,t.data.base,t.sort,l,t.isLive,t.lacking],()=>{let{history:c}=t.data;e.textContent=c.words,a.textContent=c.how,s.hidden=t.lacking===null,s.textContent=t.lacking===null?"":`Variant ${t.lacking}: ${t.lost||c.lacks}`,g(i,_e.filter(([u])=>c.columns.includes(u)).map(([u,m])=>n("th",{scope:"col",class:`is-${u}`,"aria-sort":Oe(t,u)},qe(t,u,c.titles[u]??m,d))));let h=Y(t);g(r,h.slice(0,l).map(u=>Pe(t,u))),o.hidden=h.length<=l,o.textContent=`${h.length-l} more variants`}),d=()=>p();return o.addEventListener("click",()=>{l+=10*jt,p()}),t.listen(p),p(),n("section",{class:"part"},n("h2",{class:"minor"},"Variants tried ",e),n("table",{class:"history",role:"grid","aria-label":"Variants tried"},n("thead",{},i),r),o,s,a)}function Oe(t,e){return t.sort.key!==e?null:t.sort.reversed?"descending":"ascending"}function qe(t,e,i,r){let a=t.sort.key===e?t.sort.reversed?" \u2193":" \u2191":"";return n("button",{type:"button",class:"sorter","data-key":`sort:${e}`,onclick:()=>{t.sort={key:e,reversed:t.sort.key===e&&!t.sort.reversed},r()}},i,a)}function Y(t){let{key:e,reversed:i}=t.sort,r=i?-1:1,a=s=>e==="number"?s.number:s.order[e];return[...t.data.history.rows].sort((s,o)=>{let[l,p]=[a(s),a(o)];return l===null||p===null?+(l===null)-+(p===null)||s.number-o.number:r*(l<p?-1:l>p?1:0)||s.number-o.number})}function Pe(t,e){let i=e.number===t.data.number,r=e.kept===!1,a=l=>t.send({type:"rename",number:e.number,name:l.target.value}),s=i&&t.isLive?n("input",{class:"field naming","data-key":`name:${e.number}`,value:e.name,placeholder:"name it","aria-label":`Name of variant ${e.number}`,onchange:a,onclick:l=>l.stopPropagation(),onkeydown:l=>{l.stopPropagation(),l.key==="Enter"&&a(l)}}):e.name?n("b",{},`${e.name} `):null,o=e.number===t.data.base;return n("tr",{"data-number":e.number,"data-key":`row:${e.number}`,class:r?"unkept":null,title:r?"this page has its figures only":null,"aria-disabled":r?"true":null,tabindex:i?0:-1,"aria-selected":String(i),onclick:()=>t.goBack(e.number)},n("td",{class:"dim"},e.number),n("td",{class:"is-change",title:e.change},n("span",{class:"two-lines"},s,e.change,o?n("span",{class:"dim"}," (base)"):null)),n("td",{class:"is-mesh"},e.mesh),Ne.filter(l=>t.data.history.columns.includes(l)).map(l=>n("td",{class:`is-${l}${e.known[l]?"":" dim"}`},e[l])),n("td",{class:"is-fits",title:e.why},e.problem?n("span",{class:"mark"},"\u25B2 "):null,e.fits))}function Re(t,e,i){let r=[...e.querySelectorAll("tr")],a=r.findIndex(o=>o===i.composedPath()[0]);if(a<0)return;let s=i.key==="ArrowDown"?a+1:i.key==="ArrowUp"?a-1:i.key==="Home"?0:i.key==="End"?r.length-1:-1;if(r[s])r[s].focus(),t.goBack(Number(r[s].dataset.number));else if(i.key==="Enter"||i.key===" ")t.goBack(Number(r[a].dataset.number));else if(i.key==="b")t.send({type:"base",number:Number(r[a].dataset.number)});else return;i.preventDefault(),i.stopPropagation()}var Ct={"all-reduce":"M9.5 2.5H3l3.2 3.7L3 10h6.5","all-gather":"M1.8 1.8h8.4v8.4H1.8zM6 1.8v8.4M1.8 6h8.4","reduce-scatter":"M6 1.5v4M6 5.5L2 10M6 5.5l4 4.5M6 5.5V10","all-to-all":"M1.5 3h2.2l4.6 6h2.2M1.5 9h2.2l4.6-6h2.2M9 1.5L10.5 3 9 4.5M9 7.5L10.5 9 9 10.5","ragged-all-to-all":"M1.5 3h2.2l4.6 6h2.2M1.5 9h2.2l4.6-6h2.2","collective-permute":"M1.5 4h8M7.5 2l2 2-2 2M10.5 8h-8M4.5 6l-2 2 2 2","collective-broadcast":"M2 6h3M5 6l4-4M5 6h4.5M5 6l4 4",kernel:"M2 3h8v6H2z",array:"M2 2.5h8M2 6h8M2 9.5h8M2 2.5v7M10 2.5v7",line:"M2 3h8M2 6h5M2 9h7"};function Z(t,e=""){let i=Ct[t]??Ct.kernel;return b("svg",{class:`glyph ${e}`,viewBox:"0 0 12 12",width:13,height:13,"aria-hidden":"true"},b("path",{d:i}))}function Et(t){return Mt(t,{title:"Sends, by mesh axis",shown:()=>t.data.by_axis,name:e=>n("b",{class:`axis ${y(e.axes,t.data.axes)}`},e.words),first:"axis"})}function St(t){return Mt(t,{title:"Collectives by kind",shown:()=>t.data.by_kind,name:e=>[Z(e.kind)," ",e.kind],first:"kind"})}function Mt(t,e){let i=n("span",{class:"plain"}),r=n("thead",{}),a=n("tbody",{}),s=n("p",{class:"dim"}),o=n("section",{class:"part"},n("h2",{class:"minor"},e.title," ",i),n("table",{class:"figures"},r,a),s),l=f(()=>[e.shown(),t.data.axes,t.isWaiting],()=>{let{rows:p,how:d,columns:c,missing:h}=e.shown();o.classList.toggle("old",t.isWaiting||!!e.shown().dim),i.textContent=d,s.textContent=h;let u=[e.first,"",...c];g(r,[n("tr",{},p.length?u.map(m=>m?n("th",{scope:"col"},m):n("td",{})):[])]),g(a,p.map(m=>n("tr",{},n("th",{scope:"row"},e.name(m)),n("td",{class:"barcell"},H(m.bar,t.data.axes)),m.cells.map(x=>n("td",{},x)))))});return t.listen(l),l(),o}function Lt(t){let e=n("span",{}),i=n("span",{class:"plain"}),r=n("span",{class:"right"}),a=n("ul",{class:"moves"}),s=f(()=>[t.data.moves,t.isWaiting,t.opening,t.isLive],()=>{let{moves:o,axes:l}=t.data;a.classList.toggle("old",t.isWaiting||!!o.dim),e.textContent=o.title,i.textContent=o.how;let p=n("button",{type:"button",class:"button","data-key":"compare",disabled:!!o.dim,"aria-disabled":t.opening?"true":null,onclick:()=>t.openPage("compare")},t.opening==="compare"?"Comparing \u2026":"Compare in full");g(r,o.can_compare&&t.isLive?[p]:[]),g(a,[o.rows.map(d=>Ie(d,l)),o.rest?n("li",{class:"move rest"},n("span",{}),n("span",{class:"dim"},o.rest[0]),n("span",{class:"amount"},o.rest[1])):null,o.missing?n("li",{class:"dim"},o.missing):null])});return t.listen(s),s(),n("section",{class:"part"},n("h2",{class:"minor headline"},e," ",i,r),a)}function Ie(t,e){return n("li",{class:"move"},n("span",{class:y(t.axes,e)},Z(t.kind)),n("span",{class:"movename"},t.status?n("b",{},`${t.status} `):null,v(t.what,e)),n("span",{class:"amount"},t.amount),n("span",{class:"cause small dim",title:t.whole},t.kind," ",n("b",{class:`axis ${y(t.axes,e)}`},t.axes_words),t.place?` \xB7 ${t.place}`:"",t.cause?.length?[" \u2014 ",v(t.cause,e)]:null),n("span",{class:"amount small dim"},t.counts))}function At(t,e){let i=n("div",{class:"chips",role:"group","aria-label":"Presets"}),r=n("p",{class:"dim small whynot",hidden:!0}),a=p=>{r.hidden=!p,r.textContent=p,p&&e(p)},s=p=>{a(p.allowed?"":`${p.words}: ${p.title}`),p.allowed&&p.preset!==null?t.preset(p.preset):p.allowed&&t.goBack(p.number)},o=n("section",{class:"part presets",hidden:!t.isLive},n("h2",{class:"minor"},"Presets ",n("span",{class:"plain"},"set arguments, constraints and results")),i,r),l=f(()=>[t.data.presets,t.isLive],()=>{o.hidden=!t.isLive,a(""),g(i,t.data.presets.map(p=>n("button",{type:"button",class:"chip","data-key":`preset:${p.words}`,"aria-pressed":String(p.is_now),"aria-disabled":p.allowed?null:"true","aria-description":p.title,title:p.title,onclick:()=>s(p)},p.words)))});return t.listen(l),l(),o}var Tt=6,zt=60;function Bt(t,e){let i=n("div",{class:"groups",role:"list"}),r=n("span",{class:"plain"}),a=n("button",{type:"button",class:"more",hidden:!0,onclick:()=>p()}),s=n("details",{class:"part"},n("summary",{"data-key":"results"},n("h2",{class:"minor"},"Results ",r)),i,a),o=zt,l=!0,p=()=>{o+=4*zt,d()},d=f(()=>[t.data.results,t.data.axes,t.wish.results,t.isWaiting,o,t.isLive],()=>{let{results:c,results_words:h}=t.data;s.hidden=!c.length;let u=c.filter(m=>m.changed||m.problem).length;(u&&u<=Tt||l&&c.length<=Tt)&&(s.open=!0),l=!1,r.textContent=h,g(i,c.slice(0,o).map(m=>Fe(t,e,m))),a.hidden=c.length<=o,a.textContent=M(c.length-o,"more group")});return t.listen(d),d(),s}function Fe(t,e,i){let r=t.wish.results[i.key],a=r===void 0?i.free:r===null,s=n("button",{type:"button",class:"back","data-key":`free:${i.key}`,"aria-label":`${i.name}: as XLA chooses`,title:"Take the spec away: XLA chooses again",onclick:()=>t.set({results:{[i.key]:null}})},"let XLA choose");return n("div",{class:`group${i.changed?" changed":""}${z(t,i.dims)?" wide":""}`,role:"listitem"},n("span",{}),n("span",{class:"name"},n("code",{title:i.title},i.name),n("span",{class:"dim small"},i.sub,a?", as XLA chooses":", set",a||!t.isLive?null:[" ",s])),i.dims.length?L(t,e,{key:i.key,name:i.name,dims:i.dims,field:"results",isFree:a}):n("span",{class:"dims dim small"},i.scalar),n("span",{class:"held"},i.held),i.problem?n("div",{class:"problem"},A(t,i.problem)):null)}var[C,E,T,B,_t,_]=[480,300,46,16,22,36],We=[15,20,26].flatMap(t=>[-40,40,-140,140,-90,90].map(e=>[t,e*Math.PI/180])),N=t=>T+t*(C-T-B),j=t=>E-_-t*(E-_t-_);function Nt(t){let e=n("div",{}),i=n("p",{class:"dim small"}),r=n("span",{}),a=n("section",{class:"part"},n("h2",{class:"minor"},r," ",n("span",{class:"plain"},"lower left is better")),e,i),s=f(()=>[t.data.scatter,t.data.number,t.isLive],()=>{let{scatter:o}=t.data;r.textContent=o.title,i.textContent=o.legend,g(e,o.points.length?[De(t,o)]:[n("p",{class:"nothing"},o.missing)])});return t.listen(s),s(),a}function De(t,e){let i=b("svg",{class:"scatter",viewBox:`0 0 ${C} ${E}`,role:"img","aria-label":e.words},He(e),e.front.length>1?b("path",{class:"front",d:Ue(e.front)}):null),r=e.points.map(s=>[N(s.x),j(s.y)]),a=[];return e.points.forEach((s,o)=>{let l=s.number===t.data.number,[p,d]=r[o],c=Ke(r,a,p,d,String(s.number).length,l?8:0,s.least);i.append(b("g",{class:`point is-${s.kind}${s.front?" best":""}`,"data-number":s.number,onclick:()=>t.goBack(s.number)},b("title",{},s.words),b("circle",{cx:p,cy:d,r:12,class:"reach"}),l?b("circle",{cx:p,cy:d,r:9,class:"now"}):null,Ge(s,p,d),c?b("text",{x:c[0],y:c[1]+3.8,"text-anchor":"middle",class:l?"isnow":null},s.number):null))}),i}function He(t){let e=[];for(let[i,r]of t.y_ticks)e.push(b("line",{class:"rule",x1:T,x2:C-B,y1:j(i),y2:j(i)}),b("text",{class:"faint",x:T-6,y:j(i)+3.5,"text-anchor":"end"},r));for(let[i,r]of t.x_ticks)e.push(b("line",{class:"rule",x1:N(i),x2:N(i),y1:E-_,y2:E-_+4}),b("text",{class:"faint",x:N(i),y:E-_+15,"text-anchor":"middle"},r));if(e.push(b("text",{class:"faint",x:T,y:11},t.y_label),b("text",{class:"faint",x:C-B,y:E-5,"text-anchor":"end"},t.x_label)),t.limit){let[i,r]=t.limit;i===null?e.push(b("text",{x:C-B,y:11,"text-anchor":"end"},r)):e.push(b("line",{class:"chip",x1:T,x2:C-B,y1:j(i),y2:j(i)}),b("text",{x:C-B,y:j(i)-4,"text-anchor":"end"},r))}return e}function Ue(t){return t.map(([e,i],r)=>r?`H${N(e)}V${j(i)}`:`M${N(e)} ${j(i)}`).join("")}function Ge(t,e,i){return t.kind==="base"?b("rect",{class:"sign",x:e-4.5,y:i-4.5,width:9,height:9}):t.kind==="misfit"?b("path",{class:"sign",d:`M${e} ${i-5.5}l5.2 9.4h-10.4z`}):[t.least?b("path",{class:"least",d:`M${e} ${i-6}v-12m-3.5 4l3.5-4 3.5 4`}):null,b("circle",{class:"sign",cx:e,cy:i,r:4.5})]}function Ke(t,e,i,r,a,s,o){let l=3.4*a+2,p=(d,c)=>d-l>T&&d+l<C-2&&c>_t-4&&c<E-_-4&&!e.some(([h,u,m])=>Math.abs(d-h)<l+m&&Math.abs(c-u)<12)&&!t.some(([h,u])=>Math.abs(d-h)<l+5&&Math.abs(c-u)<10);for(let[d,c]of We){let[h,u]=[i+(d+s)*Math.cos(c),r+(d+s)*Math.sin(c)];if(!(!p(h,u)||o&&u<r-6&&Math.abs(h-i)<l+5))return e.push([h,u,l]),[h,u]}return null}function Ot(t){let e=n("div",{class:"search",role:"group","aria-label":"Search"}),[i,r]=["bytes",30],a=!1,s=f(()=>[t.data.search,t.isLive,a],()=>{let{search:o}=t.data;if(o?.state!=="running"&&(a=!1),!t.isLive||!o)return g(e,o?.words?[n("span",{class:"dim"},o.words)]:[]);if(o.state==="running")return g(e,[n("progress",{max:1,value:o.share,"aria-label":"Search"}),n("span",{class:"gauged"},o.words),n("button",{type:"button",class:"button","data-key":"search","aria-disabled":a?"true":null,onclick:()=>{a||(a=!0,t.send({type:"stop_search"}),s())}},a?"Stopping":"Stop")]);let l=n("select",{"data-key":"goal","aria-label":"What the search makes less",onchange:c=>i=c.target.value},["bytes","memory","time"].map(c=>n("option",{value:c,selected:c===i},c))),p=n("select",{"data-key":"budget","aria-label":"How long it searches",onchange:c=>r=Number(c.target.value)},[10,30,60,120].map(c=>n("option",{value:c,selected:c===r},`${c} s`))),d=n("button",{type:"button",class:"button","data-key":"search",onclick:()=>t.send({type:"search",goal:i,budget_s:r})},"Search");return g(e,[d," for less ",l," in ",p,o.words?n("span",{class:"dim"},o.words):null])});return t.listen(s),s(),e}var Ve=[[["\u2191","\u2193"],"on a size: double, halve"],[["Enter"],"on a dimension: choose"],[["[","]"],"variants"],[["b"],"base"],[["f"],"full"],[["c"],"copy code"]];function Q(t,e){let i=n("p",{class:"offscreen","aria-live":"polite"}),r=h=>{i.textContent=h},a=n("div",{class:"frame playground",role:"region","aria-label":"Playground"}),s=new I(a,r),o=n("p",{class:"gone",role:"status"}),l=n("p",{class:"problem noted",role:"alert",hidden:!0}),p=n("section",{class:"opened",hidden:!0}),d=Ye();a.append(o,wt(e),p,l,vt(e),kt(e),n("div",{class:"body"},n("div",{class:"controls"},xt(e,s),At(e,r),yt(e,s),bt(e,s),Bt(e,s)),n("div",{class:"answers"},n("div",{class:"two"},Et(e),St(e)),Lt(e))),n("div",{class:"tried"},n("div",{class:"triedlist"},$t(e),Ot(e)),Nt(e)),gt(e,r),d,i),a.addEventListener("keydown",h=>Ze(e,a,h));let c=()=>{o.textContent!==e.whyStill&&(o.textContent=e.whyStill),o.hidden=e.isLive,d.hidden=!e.isLive,a.style.setProperty("--dimension",`${X(e)}px`),l.hidden=!e.data.note,l.textContent=e.data.note?`\u25B2 ${e.data.note}`:"",e.data.said&&e.data.said!==i.dataset.said&&r(i.dataset.said=e.data.said)};return e.listen(c),c(),t.classList.add("pjit-inspector","play"),t.replaceChildren(a),{open:(h,u)=>{let m=e.opening??"inspect";e.opening=null,e.tell("opening"),u?Je(p,h,u,()=>Xe(a,m)):r(`${h}: it could not be made`)}}}function Xe(t,e){t.querySelector(`[data-key="${e}"]`)?.focus()}function Je(t,e,i,r){let a=n("button",{type:"button",class:"button",onclick:()=>{t.hidden=!0,t.replaceChildren(),r()}},"Close");t.replaceChildren(n("div",{class:"title"},n("b",{},e),a),n("iframe",{sandbox:"allow-scripts allow-downloads",srcdoc:i,title:e})),t.hidden=!1,a.focus()}function Ye(){return n("div",{class:"foot dim small"},Ve.map(([t,e])=>n("span",{},t.map(i=>[n("kbd",{},i)," "]),e)))}function Ze(t,e,i){let r=i.composedPath()[0];if(i.ctrlKey||i.metaKey||i.altKey||/^(INPUT|SELECT|TEXTAREA)$/.test(r.tagName))return;let a=Y(t).filter(p=>p.kept!==!1),s=a.findIndex(p=>p.number===t.data.number),o=i.key==="["?a[s-1]:i.key==="]"?a[s+1]:null,l=p=>e.querySelector(`[data-key="${p}"]`)?.click();if(o)t.goBack(o.number);else if(i.key==="b")t.send({type:"base",number:t.data.number});else if(i.key==="f")l("full");else if(i.key==="c")l("copy");else return;i.preventDefault(),i.stopPropagation()}var qt=`.pjit-inspector.play {
  height: auto;
  overflow: visible;
}
.pjit-inspector .frame.playground {
  display: block;
  height: auto;
  overflow: visible;
  position: relative;
}
/* In a narrow cell the inspector shows one of its panes; here every part is shown. */
.pjit-inspector .frame.playground > section:not([hidden]) {
  display: block;
}
.pjit-inspector .frame.playground > .opened {
  border-bottom: 1px solid var(--rule);
}
.playground .gone {
  padding: 6px 12px;
  background: var(--panel);
  border-bottom: 1px solid var(--rule);
}
.playground .old,
.playground .old :is(.big, .axis, .change, b, th, td, code) {
  color: var(--dim);
  font-weight: 400;
}
.playground .old :is(.bar, .glyph) {
  opacity: 0.45;
}
.playground .right {
  margin-left: auto;
}
.playground .plain {
  font-weight: 400;
}
.playground .headline {
  display: flex;
  gap: 8px;
  align-items: baseline;
}
.playground .part {
  padding: 8px 12px 10px;
  border-bottom: 1px solid var(--rule);
  min-width: 0;
}
.playground .opened {
  padding: 8px 12px;
  border-bottom: 1px solid var(--rule);
  background: var(--panel);
}
.playground .opened iframe {
  width: 100%;
  height: 720px;
  border: 1px solid var(--rule);
  margin-top: 6px;
  background: var(--bg);
  color-scheme: inherit;
}

/* the three numbers */
.playground .numbers {
  display: grid;
  grid-template-columns: repeat(3, minmax(0, 1fr));
  border-bottom: 1px solid var(--rule);
  background: var(--bg);
  position: sticky;
  top: 0;
  z-index: 3;
}
.playground :is(button, input, select, summary, tr, .chooser) {
  scroll-margin-top: calc(var(--strip, 0px) + 8px);
}
.playground .number {
  padding: 7px 12px 8px;
  border-left: 1px solid var(--rule);
  min-width: 0;
}
.playground .number:first-child {
  border-left: 0;
}
.playground .big {
  font-size: 20px;
  line-height: 26px;
  min-height: 26px;
  font-weight: 600;
}
.playground .big small {
  font-size: 12px;
  font-weight: 400;
  color: var(--dim);
}
.playground .approximate {
  font-weight: 400;
  color: var(--dim);
}
.playground .change {
  font-size: 12px;
  margin-left: 10px;
}
.playground .known {
  font-size: 11px;
  line-height: 15px;
  min-height: 30px;
  color: var(--dim);
  margin-top: 3px;
}

.playground .bar {
  position: relative;
  display: block;
  height: 16px;
}
.playground .bar .track {
  position: absolute;
  inset: 2px 0;
  background: var(--track);
  overflow: hidden;
}
.playground .bar i {
  position: absolute;
}
.playground .track i {
  top: 0;
  bottom: 0;
  background: var(--c);
}
.playground .track i.ink {
  --c: var(--ink);
}
.playground .track i.held {
  --c: var(--held);
}
.playground .track i.hatched {
  background: repeating-linear-gradient(135deg, var(--c) 0 2px, var(--bg) 2px 5px);
  border: 1px solid var(--c);
  min-width: 0;
}
.playground .bar .tick {
  top: -1px;
  bottom: -1px;
  width: 2px;
  margin-left: -1px;
  background: var(--text);
}
.playground .bar .limit {
  top: -1px;
  bottom: -1px;
  border-left: 2px dashed var(--note);
}

/* how far computed */
.playground .rail {
  display: flex;
  flex-wrap: wrap;
  gap: 4px 12px;
  align-items: center;
  min-height: 32px;
  padding: 4px 12px;
  border-bottom: 1px solid var(--rule);
}
.playground .steps {
  display: flex;
  flex-wrap: wrap;
  list-style: none;
  margin: 0;
  padding: 0;
}
.playground .steps li {
  display: flex;
  align-items: center;
  white-space: nowrap;
  color: var(--dim);
}
.playground .steps li::before {
  content: "";
  width: 8px;
  height: 8px;
  margin-right: 5px;
  border: 1.5px solid var(--line);
  border-radius: 50%;
}
.playground .steps li + li {
  margin-left: 8px;
}
.playground .steps li + li::after {
  content: "";
  order: -1;
  width: 14px;
  margin-right: 8px;
  border-top: 1px solid var(--line);
}
.playground .steps .done {
  color: var(--text);
}
.playground .steps .done::before {
  background: var(--ink);
  border-color: var(--ink);
}
.playground .steps .now::before {
  border-color: var(--select);
  border-right-color: transparent;
  animation: pjit-turn 0.8s linear infinite;
}
.playground .steps .refused {
  color: var(--note);
}
.playground .steps .refused::before {
  display: none;
}
@keyframes pjit-turn {
  to {
    transform: rotate(360deg);
  }
}
@media (prefers-reduced-motion: reduce) {
  .playground .steps .now::before {
    animation: none;
    border-right-color: var(--select);
    border-style: dotted;
  }
}
.playground .against {
  margin-left: auto;
  color: var(--dim);
}
.playground select,
.playground .field {
  background: var(--bg);
  color: var(--text);
  border: 1px solid var(--line);
  border-radius: 4px;
  height: 24px;
  padding: 0 4px;
  max-width: 280px;
}

.playground .body {
  display: grid;
  grid-template-columns: minmax(0, 1.08fr) minmax(0, 1fr);
  border-bottom: 1px solid var(--rule);
}
.playground .controls {
  border-right: 1px solid var(--rule);
  min-width: 0;
}
.playground .controls > :last-child,
.playground .answers > :last-child {
  border-bottom: 0;
}
.playground .answers {
  min-width: 0;
  align-self: start;
  position: sticky;
  top: var(--strip, 0px);
}

/* mesh */
.playground .meshrow {
  display: flex;
  flex-wrap: wrap;
  gap: 6px 8px;
  align-items: center;
  margin: 6px 0 5px;
}
.playground .axisbox {
  display: inline-flex;
  align-items: center;
  gap: 5px;
}
.playground .stepper {
  display: inline-flex;
  border: 1px solid var(--line);
  border-radius: 4px;
  overflow: hidden;
  height: 26px;
}
.playground .stepper.changed {
  border-color: var(--text);
  box-shadow: inset 0 0 0 1px var(--text);
}
.playground .stepper:focus-within {
  outline: 2px solid var(--select);
}
.playground .stepper button {
  width: 26px;
  border: 0;
  background: none;
  cursor: pointer;
  font-size: 14px;
}
.playground .stepper button:hover {
  background: var(--hover);
}
.playground .stepper input {
  width: 44px;
  border: 0;
  background: none;
  text-align: center;
  font-weight: 600;
  color: var(--c);
  outline: none;
  padding: 0;
}
.playground .drop {
  border: 0;
  background: none;
  color: var(--dim);
  cursor: pointer;
  padding: 2px 3px;
  border-radius: 3px;
  font-size: 11px;
}
.playground .drop:hover {
  background: var(--hover);
}
.playground .adder {
  display: inline-flex;
  gap: 4px;
  align-items: center;
}
.playground .adder .field {
  width: 90px;
}
.playground .adder {
  flex-wrap: wrap;
}
.playground .wrong {
  color: var(--note);
}
.playground .button:is(:disabled, [aria-disabled]) {
  color: var(--dim);
  border-style: dashed;
  cursor: default;
}
.playground [aria-invalid="true"] {
  border-color: var(--note);
}
.playground .targetchip {
  border: 1px solid var(--line);
  border-radius: 4px;
  background: none;
  padding: 3px 8px;
  height: 26px;
  cursor: pointer;
}
.playground button.targetchip:hover {
  background: var(--hover);
}
.playground span.targetchip {
  cursor: default;
  border-color: var(--rule);
}
.playground .problem {
  margin: 5px 0 2px;
  padding: 5px 8px;
  border-left: 3px solid var(--note);
  background: var(--panel);
  overflow-wrap: anywhere;
}
.playground .problem .chips {
  margin-top: 5px;
}

/* rows of arrays */
.playground .tools {
  display: flex;
  align-items: center;
  gap: 6px;
  padding: 4px 0 2px;
  flex-wrap: wrap;
}
.playground .tools .field {
  flex: 1 1 120px;
  min-width: 80px;
}
.playground .group {
  display: grid;
  grid-template-columns: 18px minmax(0, 1fr) auto 76px;
  column-gap: 6px;
  align-items: center;
  padding: 5px 0;
  border-top: 1px solid var(--rule);
}
.playground .group:first-child {
  border-top: 0;
}
.playground .group.wide > :is(.dims, .stack) {
  grid-row: 2;
  grid-column: 2 / 4;
  margin-top: 4px;
}
.playground .group.wide > .name {
  grid-column: 2 / 4;
}
.playground .group > .problem,
.playground .group > .members {
  grid-column: 2 / -1;
}
.playground .opener {
  border: 0;
  background: none;
  padding: 4px 0;
  color: var(--dim);
  cursor: pointer;
}
.playground :is(.group, .member) .name {
  display: grid;
  min-width: 0;
}
.playground .group .name code {
  font-size: 11.5px;
}
.playground .held {
  display: grid;
  text-align: right;
  white-space: nowrap;
}
.playground .dims {
  display: flex;
  flex-wrap: wrap;
  justify-content: flex-end;
  gap: 4px;
}
.playground .stack {
  display: grid;
  gap: 4px;
  justify-items: end;
}
.playground .dimension {
  display: block;
  width: var(--dimension, 100px);
  height: 38px;
  padding: 1px 6px 4px;
  border: 1px solid var(--line);
  border-radius: 4px;
  background: var(--bg);
  text-align: left;
}
.playground span.dimension {
  border-color: var(--rule);
}
.playground button.dimension {
  cursor: pointer;
}
.playground button.dimension:hover {
  background: var(--hover);
}
.playground .dimension.changed {
  border-color: var(--text);
  box-shadow: inset 0 0 0 1px var(--text);
}
.playground .dimension.bad {
  border-color: var(--note);
  box-shadow: inset 0 0 0 1px var(--note);
}
.playground .dimension[aria-expanded="true"] {
  border-color: var(--select);
  box-shadow: inset 0 0 0 1px var(--select);
}
.playground .dimwords {
  display: flex;
  justify-content: space-between;
  gap: 4px;
  line-height: 20px;
  white-space: nowrap;
}
.playground .dimwords .axis {
  overflow: hidden;
  text-overflow: ellipsis;
}
.playground .ruler {
  display: flex;
  gap: 2px;
  height: 6px;
  margin-top: 3px;
}
.playground .ruler i {
  flex: 1;
  background: var(--c);
  min-width: 1px;
}
.playground .ruler.whole {
  border-top: 1px solid var(--line);
  margin-top: 6px;
}
.playground .tie {
  border: 1px solid var(--line);
  border-radius: 4px;
  background: none;
  padding: 3px 8px;
  min-width: 56px;
  cursor: pointer;
  overflow-wrap: anywhere;
}
.playground .tie[aria-checked="true"] {
  background: var(--picked);
  border-color: var(--select);
}
.playground .tie:disabled {
  cursor: default;
}
.playground .members {
  border-left: 2px solid var(--rule);
  padding-left: 8px;
  margin-top: 5px;
}
.playground .member {
  display: flex;
  flex-wrap: wrap;
  justify-content: space-between;
  align-items: center;
  gap: 4px 8px;
  padding: 3px 0;
}
.playground .free .dimension {
  border-style: dashed;
  background: none;
}
.playground .free .dimension:not(:hover, [aria-expanded="true"]) .ruler {
  opacity: 0.6;
}
.playground .back {
  border: 0;
  padding: 0;
  background: none;
  font: inherit;
  color: var(--text);
  text-decoration: underline;
  text-underline-offset: 2px;
  cursor: pointer;
}
.playground summary h2.minor {
  display: inline;
}

/* the list that opens */
.playground .chooser {
  position: absolute;
  z-index: 20;
  min-width: 300px;
  max-width: min(460px, calc(100% - 12px));
  max-height: 380px;
  overflow-y: auto;
  padding: 5px;
  background: var(--bg);
  border: 1px solid var(--line);
  border-radius: 5px;
  box-shadow: 0 4px 14px #0003;
  outline: none;
}
.playground .chooser > p {
  padding: 2px 6px 5px;
  font-family: var(--code);
  font-size: 11px;
  overflow-wrap: anywhere;
}
.playground .chooser [role="option"] {
  display: grid;
  grid-template-columns: 14px minmax(90px, auto) minmax(0, 1fr);
  gap: 6px;
  padding: 4px 6px;
  border-radius: 3px;
  cursor: pointer;
}
.playground .chooser [aria-disabled] {
  cursor: not-allowed;
  color: var(--dim);
}
.playground .chooser [aria-disabled] b {
  font-weight: 400;
  color: var(--dim);
}
.playground .chooser .detail {
  text-align: right;
  color: var(--dim);
}
.playground .chooser .at {
  background: var(--picked);
}
.playground .chooser .refuses .detail {
  color: var(--note);
}

/* what is sent */
.playground .two {
  display: contents;
}
.playground .figures {
  width: 100%;
  border-collapse: collapse;
  margin-top: 3px;
}
.playground .figures th,
.playground .figures td {
  padding: 3px 0 3px 10px;
  text-align: right;
  white-space: nowrap;
  font-weight: 400;
}
.playground .figures thead th {
  color: var(--dim);
  font-size: 11px;
}
.playground .figures tr > :first-child {
  text-align: left;
  padding-left: 0;
}
.playground .figures tbody tr > * {
  border-top: 1px solid var(--rule);
}
.playground .figures .barcell {
  width: 38%;
  min-width: 60px;
}
.playground .figures .bar {
  height: 12px;
}
.playground .figures td:nth-child(4) {
  color: var(--dim);
}
.playground .moves {
  list-style: none;
  margin: 2px 0 0;
  padding: 0;
  min-height: 120px;
}
.playground .move {
  display: grid;
  grid-template-columns: 18px minmax(0, 1fr) auto;
  column-gap: 6px;
  padding: 4px 0 5px;
  border-top: 1px solid var(--rule);
}
.playground .move:first-child {
  border-top: 0;
}
.playground .move .glyph {
  color: var(--c);
  margin-top: 1px;
}
.playground .movename,
.playground .move .cause {
  overflow-wrap: anywhere;
}
.playground .move .cause {
  grid-column: 2;
  font-size: 11px;
  line-height: 15px;
  display: -webkit-box;
  -webkit-box-orient: vertical;
  -webkit-line-clamp: 2;
  overflow: hidden;
}
.playground .amount {
  text-align: right;
  white-space: nowrap;
}

/* variants */
.playground .tried {
  display: grid;
  grid-template-columns: minmax(0, 1.35fr) minmax(0, 1fr);
  border-bottom: 1px solid var(--rule);
}
.playground .tried .part {
  border-bottom: 0;
}
.playground .tried > .part {
  border-left: 1px solid var(--rule);
}
.playground .history {
  width: 100%;
  border-collapse: collapse;
}
.playground .history th {
  text-align: right;
  font-weight: 400;
  padding: 0 0 2px 8px;
  white-space: nowrap;
}
.playground .sorter {
  border: 0;
  background: none;
  padding: 2px;
  color: var(--dim);
  font-size: 11px;
  cursor: pointer;
}
.playground [aria-sort] > .sorter {
  color: var(--text);
  font-weight: 600;
}
.playground .history td {
  padding: 3px 0 3px 8px;
  border-top: 1px solid var(--rule);
  text-align: right;
  white-space: nowrap;
  height: 26px;
}
.playground .history :is(td, th):first-child {
  padding-left: 6px;
  text-align: left;
}
.playground .history :is(td, th).is-change {
  text-align: left;
  white-space: normal;
  overflow-wrap: anywhere;
}
.playground .history tbody tr {
  cursor: pointer;
}
.playground .history tbody tr:hover {
  background: var(--hover);
}
.playground .history tr[aria-selected="true"] {
  background: var(--picked);
  box-shadow: inset 3px 0 var(--select);
}
.playground .history .unkept {
  color: var(--dim);
  cursor: help;
}
.playground .history + .more ~ p {
  margin-top: 5px;
}
.playground .naming {
  width: 84px;
  height: 20px;
  margin-right: 6px;
  border-color: var(--rule);
  font-size: 11px;
}
.playground .search {
  display: flex;
  flex-wrap: wrap;
  gap: 4px 8px;
  align-items: center;
  padding: 0 12px 10px;
  min-height: 30px;
}
.playground .search:empty {
  display: none;
}
.playground .gauged {
  font-variant-numeric: tabular-nums;
}
.playground progress {
  width: 140px;
  accent-color: var(--select);
}
.playground .scatter {
  display: block;
  width: 100%;
  height: auto;
  max-width: 540px;
}
.playground .scatter text {
  font: 10.5px var(--ui);
  fill: var(--text);
}
.playground .scatter .faint {
  fill: var(--dim);
}
.playground .scatter .rule {
  stroke: var(--rule);
}
.playground .scatter .chip {
  stroke: var(--note);
  stroke-dasharray: 4 3;
}
.playground .scatter .front {
  fill: none;
  stroke: var(--ink);
  stroke-width: 1.2;
}
.playground .point {
  cursor: pointer;
}
.playground .point .reach {
  fill: transparent;
}
.playground .point .sign {
  fill: var(--line);
}
.playground .point:is(.best, .is-base) .sign {
  fill: var(--ink);
}
.playground .point.is-misfit .sign {
  fill: var(--note);
}
.playground .point.is-other .sign {
  fill: var(--bg);
  stroke: var(--line);
  stroke-width: 2;
}
.playground .point .least {
  fill: none;
  stroke: var(--line);
  stroke-width: 1.3;
}
.playground .point .now {
  fill: none;
  stroke: var(--select);
  stroke-width: 2;
}
.playground .scatter .isnow {
  font-weight: 600;
}

/* code */
.playground .lines {
  margin: 4px 0;
  padding: 6px 0;
  background: var(--panel);
  border: 1px solid var(--rule);
  border-radius: 3px;
  font: 11.5px/17px var(--code);
  white-space: pre-wrap;
  overflow-wrap: anywhere;
}
.playground .lines:empty {
  display: none;
}
.playground .line {
  display: block;
  padding: 0 10px 0 8px;
  border-left: 3px solid transparent;
}
.playground .line.changed {
  border-left-color: var(--select);
  background: var(--picked);
}
.playground .proof {
  display: flex;
  flex-wrap: wrap;
  gap: 8px;
  align-items: center;
}
.playground .proof.equal {
  color: var(--text);
}
.playground .proof.different {
  color: var(--note);
}
.playground .foot {
  display: flex;
  flex-wrap: wrap;
  gap: 3px 14px;
  padding: 5px 12px;
}
.playground kbd {
  font: 11px var(--code);
  border: 1px solid var(--rule);
  border-radius: 3px;
  padding: 0 4px;
  color: var(--text);
}

@container (max-width: 980px) {
  .playground .body,
  .playground .tried {
    grid-template-columns: minmax(0, 1fr);
  }
  .playground .controls {
    border-right: 0;
  }
  .playground .controls > :last-child {
    border-bottom: 1px solid var(--rule);
  }
  .playground .tried > .part {
    border-left: 0;
    border-top: 1px solid var(--rule);
  }
  .playground .two {
    display: grid;
    grid-template-columns: 1fr 1fr;
    border-bottom: 1px solid var(--rule);
  }
  .playground .two > .part {
    border-bottom: 0;
  }
  .playground .two > .part + .part {
    border-left: 1px solid var(--rule);
  }
  .playground .figures .barcell {
    width: 24%;
    min-width: 34px;
  }
  .playground .figures :is(th, td) {
    padding-left: 6px;
  }
  .playground .answers {
    align-self: stretch;
    position: static;
  }
  .playground .big {
    font-size: 17px;
  }
}
@container (max-width: 680px) {
  .playground .number {
    padding: 5px 8px 6px;
  }
  .playground .big {
    font-size: 15px;
    line-height: 20px;
  }
  .playground .big :is(small, .change) {
    font-size: 11px;
  }
  .playground .big .change {
    margin-left: 5px;
    white-space: nowrap;
  }
  .playground .two {
    grid-template-columns: minmax(0, 1fr);
  }
  .playground .two > .part + .part {
    border-left: 0;
    border-top: 1px solid var(--rule);
  }
  .playground .group {
    grid-template-columns: 18px minmax(0, 1fr) auto;
  }
  .playground .group > :is(.dims, .stack) {
    grid-row: 2;
    grid-column: 2 / -1;
    justify-content: flex-start;
    justify-items: start;
    margin-top: 4px;
  }
  .playground .title {
    flex-wrap: wrap;
  }
  .playground .against {
    margin-left: 0;
  }
  .playground .against select {
    max-width: 220px;
  }
  .playground .history :is(.is-mesh, .is-time) {
    display: none;
  }
  .playground .history :is(td, th) {
    padding-left: 5px;
  }
  .playground .chooser {
    min-width: 0;
  }
}

.playground .opener.wide {
  grid-column: 1 / -1;
  text-align: left;
  padding: 3px 4px;
}
.playground .opener:hover {
  color: var(--text);
}
.playground .noted {
  margin: 6px 12px;
}
.playground .two-lines {
  display: -webkit-box;
  -webkit-box-orient: vertical;
  -webkit-line-clamp: 2;
  overflow: hidden;
}
.playground .lines .more {
  padding: 1px;
  text-align: center;
  font: 11px/15px var(--ui);
}
.playground .presets .chips {
  margin-top: 5px;
}
.playground .chip[aria-disabled] {
  color: var(--dim);
  border-style: dashed;
  background: none;
  cursor: help;
}
.playground .whynot {
  margin-top: 5px;
}

@container (max-width: 480px) {
  .playground .numbers {
    grid-template-columns: minmax(0, 1fr);
    position: static;
  }
  .playground .number {
    border-left: 0;
    border-top: 1px solid var(--rule);
  }
  .playground .number:first-child {
    border-top: 0;
  }
  .playground .known {
    min-height: 0;
  }
}
`;function Pt({pool:t,values:e}){let i=[],r=a=>{if(Array.isArray(a))return a.map(r);if(a===null||typeof a!="object")return a;let s=Object.keys(a);return s.length===1&&s[0]==="$"?i[a.$]:Object.fromEntries(s.map(o=>[o,r(a[o])]))};return t.forEach(a=>i.push(r(a))),e.map(r)}var ti="The kernel that answers is gone: it was restarted or shut down. This is the last state; run the cell again to go on.",O=()=>({seq:0,mesh:null,target:null,specs:{},results:{},constraints:{}}),R=class{constructor(e,i){this.data=e,this.ask=i,this.seq=0,this.wish=O(),this.held=null,this.lost="",this.opening=null,this.open=new Set,this.loose=new Set,this.showsFollowers=!1,this.filter="",this.lacking=null,this.sort={key:"number",reversed:!1},this.listeners=[]}get isLive(){return this.ask!==null&&!this.lost&&!this.data.closed}get whyStill(){return this.isLive?"":this.lost||this.data.closed||this.data.still_words}get isWaiting(){return this.wish.seq>0}listen(e){this.listeners.push(e)}tell(e){this.listeners.forEach(i=>i(e))}take(e){if(!(e.version<this.data.version)){if(this.data=e,this.held&&this.seq-e.heard<4){let i=this.held;this.held=null,this.send({type:"set",...i}),this.wish={...this.wish,seq:this.seq}}e.heard>=this.wish.seq&&(this.wish=O()),this.tell("data")}}lose(){this.lost=ti,this.wish=O(),this.held=this.opening=null,this.tell("data")}send(e){if(!(!this.ask||this.lost)){this.seq+=1;try{this.ask({...e,seq:this.seq})}catch{this.lose()}}}openPage(e){this.opening||(this.opening=e,this.send({type:e}),this.tell("opening"))}get mesh(){return this.wish.mesh??this.data.mesh.map(e=>[e.name,e.size])}set(e){if(!this.isLive)return;let i=this.held!==null||this.seq-this.data.heard>=4;i?this.held=Rt(this.held??{},e):this.send({type:"set",...e}),!this.lost&&(this.wish={...O(),...Rt(this.wish,e),seq:i?1/0:this.seq},this.tell("wish"))}preset(e){this.held=null,this.send({type:"preset",preset:e}),!this.lost&&(this.wish={...O(),seq:this.seq},this.tell("wish"))}spec(e,i,r){let a=this.wish[e][i];return Array.isArray(a)?a:r.map(s=>s.axes??[])}goBack(e){this.wish=O(),this.held=null,this.send({type:"go_back",number:e}),this.lost&&(this.lacking=e,this.tell("data"))}};function Rt(t,e){return{...t,...e,specs:{...t.specs,...e.specs},results:{...t.results,...e.results},constraints:{...t.constraints,...e.constraints}}}var It=`${ut}
${ot}
${qt}`;function ei(t,e){t.goBack=i=>{let r=e.find(a=>a.number===i);t.lacking=r?null:i,r?t.take({...t.data,...r}):t.tell("data")}}async function ii(){let t=document.getElementById("pjit-inspector"),e=document.getElementById("pjit-first"),i=document.getElementById("pjit-blob");if(!t||!e||!i)return;let r=new URLSearchParams(location.hash.slice(1)).get("theme");r&&(document.documentElement.dataset.theme=r),t.classList.remove("page");let a=new R(JSON.parse(e.textContent??""),null);Q(t,a);try{ei(a,Pt(et(await nt(it(i.textContent??""))).header.variants)),t.setAttribute("data-ready","true")}catch(s){t.append(n("p",{class:"nothing"},`The other variants of this page could not be read: ${s}`))}}function ni({model:t,el:e}){let i=e.attachShadow?e.attachShadow({mode:"open"}):e,r=n("div");i.append(n("style",{},It),r);let a=()=>{let u=document.body.dataset.jpThemeLight;r.classList.toggle("light",u==="true"),r.classList.toggle("dark",u==="false")};a();let s=new MutationObserver(a);s.observe(document.body,{attributes:!0,attributeFilter:["data-jp-theme-light"]});let o=()=>({...JSON.parse(t.get("_state")),history:JSON.parse(t.get("_history"))}),l=new R(o(),u=>t.send(u)),p=Q(r,l),d=()=>l.take(o()),c=u=>{u?.type==="page"&&p.open(u.title,u.page)},h=()=>l.send({type:"drawn"});return e.setAttribute("data-pjit-play",t.get("_key")),t.on("change:_state",d),t.on("change:_history",d),t.on("msg:custom",c),t.on("comm_live_update",h),r.setAttribute("data-ready","true"),t.send({type:"drawn",seq:0}),()=>{s.disconnect(),t.off("change:_state",d),t.off("change:_history",d),t.off("msg:custom",c),t.off("comm_live_update",h)}}typeof document<"u"&&document.getElementById("pjit-inspector")&&(document.head.append(n("style",{},It)),ii());var Yn={render:ni};export{Yn as default};
