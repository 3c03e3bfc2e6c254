var It=[3,4,5,6,7,8,9,10,11,13,15,17,19,23,27,31,35,43,51,59,67,83,99,115,131,163,195,227,258],Rt=[0,0,0,0,0,0,0,0,1,1,1,1,2,2,2,2,3,3,3,3,4,4,4,4,5,5,5,5,0],_t=[1,2,3,4,5,7,9,13,17,25,33,49,65,97,129,193,257,385,513,769,1025,1537,2049,3073,4097,6145,8193,12289,16385,24577],Pt=[16,17,18,0,8,7,9,6,10,5,11,4,12,3,13,2,14,1,15];function B(e){let t=new Array(16).fill(0);for(let r of e)t[r]++;t[0]=0;let i=[];for(let r=1;r<16;r++)for(let o=0;o<e.length;o++)e[o]===r&&i.push(o);return{counts:t,symbols:i}}var H=class{constructor(t,i){this.bytes=t,this.at=i,this.held=this.count=0}take(t){for(;this.count<t;){if(this.at>=this.bytes.length)throw new Error("the data end too soon");this.held|=this.bytes[this.at++]<<this.count,this.count+=8}let i=this.held&(1<<t)-1;return this.held>>>=t,this.count-=t,i}symbol({counts:t,symbols:i}){let[r,o,a]=[0,0,0];for(let n=1;n<16;n++){r|=this.take(1);let p=t[n];if(r-o<p)return i[a+r-o];a+=p,o=o+p<<1,r<<=1}throw new Error("the data are damaged")}},qt=[B(Array.from({length:288},(e,t)=>t<144?8:t<256?9:t<280?7:8)),B(new Array(30).fill(5))];function Ft(e){let[t,i,r]=[e.take(5)+257,e.take(5)+1,e.take(4)+4],o=new Array(19).fill(0);for(let p=0;p<r;p++)o[Pt[p]]=e.take(3);let a=B(o),n=[];for(;n.length<t+i;){let p=e.symbol(a);if(p<16)n.push(p);else{let l=p===16?n[n.length-1]:0,c=p===16?3+e.take(2):p===17?3+e.take(3):11+e.take(7);for(let d=0;d<c;d++)n.push(l)}}return[B(n.slice(0,t)),B(n.slice(t))]}function et(e){let t=new H(e,2),i=new Uint8Array(4*e.length+1024),r=0,o=a=>{if(r+a<=i.length)return;let n=new Uint8Array(2*(r+a));n.set(i),i=n};for(let a=0;!a;){a=t.take(1);let n=t.take(2);if(n===0){t.held=t.count=0;let c=t.take(16);t.take(16),o(c),i.set(e.subarray(t.at,t.at+c),r),t.at+=c,r+=c;continue}if(n===3)throw new Error("the data are damaged");let[p,l]=n===1?qt:Ft(t);for(let c=t.symbol(p);c!==256;c=t.symbol(p)){if(c<256){o(1),i[r++]=c;continue}let d=It[c-257]+t.take(Rt[c-257]),x=t.symbol(l),m=_t[x]+t.take(x<2?0:(x>>1)-1);if(m>r)throw new Error("the data are damaged");o(d);for(let h=0;h<d;h++,r++)i[r]=i[r-m]}}return i.slice(0,r).buffer}var Wt="PJITVIEW",Ht={i4:Int32Array,u1:Uint8Array,u4:Uint32Array,f8:Float64Array,s4:Uint32Array},U=class{constructor(t,i){this.bytes=t,this.ends=i,this.length=i.length,this.decoder=new TextDecoder}at(t){let i=t?this.ends[t-1]:0;return this.decoder.decode(this.bytes.subarray(i,this.ends[t]))}longest(){let t=0;for(let i=0,r=0;i<this.length;r=this.ends[i++])t=Math.max(t,this.ends[i]-r);return t}};function it(e){let t=new TextDecoder;if(t.decode(new Uint8Array(e,0,8))!==Wt)throw new Error("this is no inspector data");let[i,r]=new Uint32Array(e,8,2);if(i!==1)throw new Error(`inspector data of version ${i}; this page reads version 1`);let o=JSON.parse(t.decode(new Uint8Array(e,16,r))),a=16+r,n=new Set,p=d=>d in o.columns,l=d=>{if(!p(d))return new Int32Array(0);let[x,m,h]=o.columns[d],b=new Ht[x](e,a+m,h);if(x!=="s4"||n.has(d))return b;n.add(d);for(let g=1;g<h;g++)b[g]+=b[g-1];return b};return{header:o,column:l,strings:d=>new U(l(d),l(`${d}.ends`)),has:p}}function rt(e){let t=atob(e.trim()),i=new Uint8Array(t.length);for(let r=0;r<t.length;r++)i[r]=t.charCodeAt(r);return i}async function st(e){if(typeof DecompressionStream>"u")return et(e);let t=new Blob([e]).stream().pipeThrough(new DecompressionStream("deflate"));return await new Response(t).arrayBuffer()}var Ut="http://www.w3.org/2000/svg",ot={ArrowDown:1,ArrowRight:1,ArrowUp:-1,ArrowLeft:-1};function at(e,t,i){for(let[r,o]of Object.entries(t))if(!(o==null||o===!1))if(r.startsWith("on"))e.addEventListener(r.slice(2),o);else if(r==="style")for(let[a,n]of Object.entries(o))e.style.setProperty(a,String(n));else e.setAttribute(r,o===!0?"":String(o));return e.append(...i.flat(1/0).filter(r=>r!=null&&r!==!1)),e}function s(e,t={},...i){return at(document.createElement(e),t,i)}function f(e,t={},...i){return at(document.createElementNS(Ut,e),t,i)}function G(e,t,i){return i?e.key in ot?Math.max(0,Math.min(i-1,t+ot[e.key])):e.key==="Home"?0:e.key==="End"?i-1:null:null}function I(e,t,i,r){let o=t.map(([p,l,c])=>s("button",{type:"button",role:"tab",title:c,"data-tab":p,onclick:()=>r(p)},l)),a=s("div",{class:"tabs",role:"tablist","aria-label":e,onkeydown:p=>{let l=G(p,t.findIndex(([c])=>c===i()),t.length);l!==null&&(p.preventDefault(),r(t[l][0]),o[l].focus())}},o),n=()=>{t.forEach(([p],l)=>{o[l].setAttribute("aria-selected",String(p===i())),o[l].tabIndex=p===i()?0:-1})};return n(),{bar:a,update:n}}var nt=`.pjit-inspector,
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
`;var Kt=`
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
track #eef0f2 #262a30`,dt=Kt.trim().split(`
`).map(e=>e.split(" ")),$=e=>dt.map(t=>t[e]&&t[e]!=="-"?`--${t[0]}:${t[e]};`:"").join(""),K=":root:not([data-theme=light])",[Vt,pt]=["dark","light"].map(e=>`.pjit-inspector.pjit-inspector.${e}`),lt=`:root[data-theme=dark] .pjit-inspector,${Vt}`,Xt=`${K},${K} .pjit-inspector,:host .pjit-inspector`,ct="@media (prefers-contrast:more)",Jt={ax:"c",mem:"m",scope:"m"},Yt=dt.map(([e])=>[e,Jt[e.split("-")[0]]]).filter(([,e])=>e).map(([e,t])=>`.${e}{--${t}:var(--${e})}`),ht=`
${Yt.join("")}
:root,.pjit-inspector{${$(1)}color-scheme:light dark}
@media (prefers-color-scheme:dark){${Xt}{${$(2)}}}
:root[data-theme=light],${pt}{${$(1)}color-scheme:light}
:root[data-theme=dark],${lt}{${$(2)}color-scheme:dark}
${ct}{:root,.pjit-inspector.pjit-inspector,${pt}{${$(3)}}${lt}{${$(4)}}}
${ct} and (prefers-color-scheme:dark){${K} .pjit-inspector.pjit-inspector:not(.light),:host .pjit-inspector.pjit-inspector:not(.light){${$(4)}}}
@media (forced-colors:active){.pjit-inspector.pjit-inspector.pjit-inspector{${$(5)}}}
`;function w(e,t){if(!e||!e.length)return"ax-none";if(e.length>1)return"ax-many";let i=t.indexOf(e[0].split(":(")[0]);return i<0||i>3?"ax-many":`ax-${i}`}function M(e,t){return e.map(i=>Qt(i,t))}function Qt(e,t){return typeof e=="string"?e:"strong"in e&&typeof e.strong=="string"?s("b",{},e.strong):"dim"in e?s("span",{class:"dim"},e.dim):"name"in e?s("b",{class:"code"},e.name):"code"in e?s("code",{},e.code):"axis"in e?A(e.axis,e.axes,e.size,t):"number"in e?Zt(e):""}function A(e,t,i,r){return s("span",{class:`axis ${w(t,r)}`},i===null?e:`${e} ${i}`)}function Zt(e){let t=e.unit?`${e.number}\xA0${e.unit}`:e.number,i=e.how==="counted"||!e.unit?void 0:e.how;return s(e.strong?"b":"span",{title:i},t)}var y={removed:["\u2212","removed"],added:["+","added"],less:["\u25BC","less"],more:["\u25B2","more"],changed:["\u2248","changed"],same:["=","same"]};function mt(){y.removed[1]="only before",y.added[1]="only after"}var R=Object.keys(y);function T(e){let[t,i]=y[e];return s("span",{class:`sign is-${e}`,title:i},t,s("span",{class:"offscreen"},` ${i}`))}function S(e){let[t,i]=y[e];return s("span",{class:`statusword is-${e}`},`${t} ${i}`)}function _(e){return e<0?"is-less":e>0?"is-more":"is-same"}function ft(e){let{first:t}=e,{unit:i,rows:r}=t.bars,o=r.map(a=>{let n=t.axis_sets[a.axes];return s("button",{type:"button",class:`axisrow ${w(n.axes,t.axes)}`,"aria-pressed":"false",onclick:()=>e.filter({list:"collectives",axes:e.state.axes===a.axes?null:a.axes,status:null})},s("span",{class:"axis",title:n.words},n.words),s("span",{class:"track","aria-hidden":"true"},s("span",{class:"bar before",style:{width:`${100*a.shares[0]}%`}}),s("span",{class:"bar after",style:{width:`${100*a.shares[1]}%`}})),s("span",{class:"sent"},a.sent),s("span",{class:"became"},t.incomplete.length?null:[S(a.status),te(a)?` ${a.change}`:null]),s("span",{class:"dim number"},`${a.counts} ${a.counts==="1"?"collective":"collectives"}`))});return e.listen(a=>{a.has("axes")&&r.forEach((n,p)=>o[p].setAttribute("aria-pressed",String(e.state.axes===n.axes)))}),s("section",{class:"totals","aria-label":"Sends, by mesh axis"},s("h2",{class:"minor"},`Each device sends per call (${i}), by mesh axis${t.incomplete.length?", in the part that is there":""} `,s("span",{class:"key"},s("i",{class:"before"}),"before ",s("i",{class:"after"}),"after")),s("div",{class:"axisrows"},o.length?o:s("p",{class:"dim"},t.unsent??"Nothing is sent.")))}var te=e=>e.status==="less"||e.status==="more";var ut=`/* The page that compares two programs. Less and more never speak by colour alone: a sign and a word are beside it. */
/* Of a part, less is no verdict. */
.pjit-inspector .compare.of-parts {
  --less: var(--dim);
  --more: var(--dim);
  --less-fill: var(--hover);
  --more-fill: var(--hover);
}
.pjit-inspector .frame.compare {
  grid-template:
    "top top top" auto "list centre details" minmax(0, 1fr) "totals centre details" auto /
    minmax(380px, 30%) minmax(0, 1fr) minmax(300px, 24%);
}
.compare .is-less,
.compare .is-removed {
  color: var(--less);
}
.compare .is-more,
.compare .is-added {
  color: var(--more);
}
.compare .is-changed,
.compare .is-same {
  color: var(--dim);
}
/* A shape or a line of source that went is no verdict. */
.compare .edit .sign {
  color: var(--dim);
}
.compare .top {
  max-height: 46vh;
  overflow-y: auto;
}
.compare .title {
  align-items: baseline;
}
.compare .answer {
  max-width: 125ch;
}
.compare .parity {
  border: 1px solid var(--more);
  border-left-width: 4px;
  border-radius: 4px;
  padding: 3px 8px;
  width: fit-content;
}
.compare .figures {
  list-style: none;
  display: flex;
  flex-wrap: wrap;
  gap: 4px 24px;
  margin: 2px 0 0;
  padding: 0;
}
.compare .figures li {
  display: grid;
}
.compare .both {
  white-space: nowrap;
}
.pjit-inspector .compare .list .tabs {
  flex-wrap: wrap;
  height: auto;
  padding-block: 3px;
}
.pjit-inspector .compare .list .tabs button {
  flex: none;
  gap: 4px;
}
.compare .list .chips {
  padding: 6px 8px;
  border-bottom: 1px solid var(--rule);
  flex: none;
}
.compare .heads,
.pjit-inspector .compare .row {
  display: grid;
  grid-template-columns: 14px 16px minmax(0, 1fr) 54px 54px 62px;
  column-gap: 4px;
  padding: 4px 10px 6px 8px;
}
.compare .heads[hidden] {
  display: none;
}
.compare .heads {
  border-bottom: 1px solid var(--rule);
  padding-block: 3px;
  padding-right: calc(10px + 0.5em);
  white-space: nowrap;
}
.compare .heads span {
  overflow: hidden;
  text-overflow: ellipsis;
}
.compare .heads span:nth-child(2) {
  grid-column: 2 / 4;
}
.compare .heads span:nth-child(1) {
  grid-column: 1;
}
.compare .heads span:nth-child(n + 3) {
  text-align: right;
}
.compare .row .sign {
  grid-area: 1 / 1;
  font-weight: 700;
}
.pjit-inspector .compare .row .glyph {
  grid-area: 1 / 2;
}
.compare .row .name {
  grid-area: 1 / 3;
}
.compare .row .sub {
  grid-column: 3 / -1;
  grid-row: 2;
}
.compare .row .cell {
  text-align: right;
  grid-row: 1;
  white-space: nowrap;
}
.compare .row .before {
  grid-column: 4;
  color: var(--dim);
}
.compare .row .after {
  grid-column: 5;
}
.compare .row .difference {
  grid-column: 6;
  font-weight: 600;
}
.pjit-inspector .compare .row .bar {
  left: auto;
  right: 10px;
  bottom: 1px;
  max-width: 178px;
}
.compare .around {
  list-style: none;
  margin: 0 0 12px;
  padding: 0;
  display: grid;
  gap: 4px;
}
.compare .aroundbox {
  padding: 10px 12px;
}
.compare .edit {
  display: flex;
  flex-wrap: wrap;
  gap: 6px;
}
.compare .totals {
  grid-area: totals;
  border-top: 1px solid var(--rule);
  border-right: 1px solid var(--rule);
  padding: 8px 10px;
  min-width: 0;
  max-height: 220px;
  overflow-y: auto;
}
.compare .key {
  white-space: nowrap;
}
.compare .key i {
  display: inline-block;
  width: 12px;
  height: 7px;
  margin: 0 3px 0 8px;
  border: 1px solid var(--line);
}
.compare .key i.after {
  background: var(--line);
}
.compare .axisrow {
  display: grid;
  width: 100%;
  grid-template-columns: 26% minmax(0, 1fr) 116px;
  column-gap: 8px;
  align-items: center;
  text-align: left;
  border: 1px solid transparent;
  border-radius: 4px;
  background: none;
  padding: 3px 4px;
  cursor: pointer;
}
.compare .axisrows {
  display: grid;
}
.compare .axisrow:hover {
  background: var(--hover);
}
.compare .axisrow .track {
  display: grid;
  gap: 1px;
}
.compare .axisrow .bar {
  height: 7px;
  min-width: 1px;
  border: 1px solid var(--c);
}
.compare .axisrow .bar.after {
  background: var(--c);
}
.compare .axisrow > .axis {
  overflow: hidden;
  text-overflow: ellipsis;
  white-space: nowrap;
}
.compare .axisrow .sent {
  text-align: right;
  white-space: nowrap;
}
.compare .axisrow .became {
  grid-column: 2;
  font-size: 11px;
}
.compare .axisrow .number {
  grid-column: 3;
  font-size: 11px;
  text-align: right;
}
.compare .centre {
  padding: 8px 0 0;
  min-width: 0;
  min-height: 0;
}
.compare .centre h2 {
  padding: 0 12px 6px;
}
.compare .matrixbox {
  flex: 1;
  min-height: 0;
  overflow: auto;
  border-top: 1px solid var(--rule);
}
.compare .matrix {
  border-collapse: separate;
  border-spacing: 6px;
  width: 100%;
}
.compare .matrix thead th {
  position: sticky;
  top: 0;
  z-index: 1;
  background: var(--bg);
  text-align: left;
  font-weight: 600;
  padding: 4px 0;
}
.compare .matrix tbody th {
  text-align: left;
  vertical-align: top;
  font-weight: 400;
  padding-left: calc(12px * var(--depth));
  min-width: 84px;
  max-width: 150px;
  overflow-wrap: break-word;
}
.compare .matrix td {
  vertical-align: top;
  height: 1px;
}
.compare .matrix .group th {
  padding-top: 6px;
}
.compare .times {
  display: inline-block;
  margin-left: 6px;
  padding: 0 5px;
  border: 1px solid var(--line);
  border-radius: 8px;
  font-size: 11px;
}
.compare .holds {
  display: block;
}
.compare .graphbox {
  display: flex;
  flex-direction: column;
  width: 100%;
  min-width: 130px;
  min-height: 100%;
  text-align: left;
  padding: 4px 7px;
  border: 1px solid var(--line);
  border-radius: 4px;
  background: var(--bg);
  cursor: pointer;
  font-size: 11px;
}
.compare .fill-less {
  --fill: var(--less-fill);
}
.compare .fill-more {
  --fill: var(--more-fill);
}
.compare .fill-removed {
  --fill: var(--less-fill);
}
.compare .fill-added {
  --fill: var(--more-fill);
}
.compare .graphbox:not(.fill-same) {
  background: color-mix(in srgb, var(--fill) var(--strength), var(--bg));
}
.compare .graphbox:not(.fill-same) .dim {
  color: var(--text);
}
/* On a fill, the colours of axes are too light to read. */
.pjit-inspector .compare :is(.graphbox, .row, .axisrow, .chip) .axis {
  color: color-mix(in srgb, var(--c) 70%, var(--text));
}
.compare .graphbox.fill-removed {
  border-style: dashed;
  border-width: 2px;
}
.compare .graphbox.fill-added {
  border-style: double;
  border-width: 4px;
}
.compare .graphbox:hover {
  border-color: var(--select);
}
.compare .graphbox.has-selected {
  outline: 2px solid var(--select);
}
.compare .graphbox[aria-pressed="true"] {
  outline: 3px solid var(--select);
  background: var(--picked) !important;
}
.compare .boxhead,
.compare .moveline {
  display: flex;
  justify-content: space-between;
  gap: 8px;
}
.compare .boxhead {
  flex-wrap: wrap;
}
.compare :is(.boxhead, .moveline) > * {
  white-space: nowrap;
}
.compare .legend {
  display: flex;
  flex-wrap: wrap;
  gap: 4px 10px;
  align-items: center;
  padding: 6px 12px;
  border-top: 1px solid var(--rule);
}
.compare .swatch {
  background: var(--fill);
  border: 1px solid var(--line);
  border-radius: 3px;
  padding: 0 5px;
}
.compare .fill-removed.swatch {
  border-style: dashed;
}
.compare .fill-added.swatch {
  border-style: double;
  border-width: 3px;
}
.compare .details .because {
  border-left: 3px solid var(--select);
  padding-left: 8px;
}
.compare .sidehead {
  display: flex;
  justify-content: space-between;
  border-top: 1px solid var(--rule);
  padding-top: 8px !important;
  color: var(--text) !important;
}
.compare .changes {
  border-collapse: collapse;
  width: 100%;
  font-size: 11px;
}
.compare .changes :is(th, td) {
  text-align: left;
  vertical-align: top;
  font-weight: 400;
  padding: 2px 6px 2px 0;
  border-bottom: 1px solid var(--rule);
  overflow-wrap: anywhere;
}
.compare .changes thead th {
  color: var(--dim);
}
.compare .arrow {
  margin-top: 36px;
}
.compare .details .line {
  white-space: pre-wrap;
}
/* Two lines for each row at every width: the inspector's list folds to one. */
.pjit-inspector .compare .row {
  min-height: 43px;
  align-items: start;
}
.pjit-inspector .compare .row .sub {
  display: block;
}
.pjit-inspector .frame.compare > .details {
  border: 0;
  border-left: 1px solid var(--rule);
}
@container (max-width: 1179px) {
  .pjit-inspector .frame.compare {
    grid-template: "top top" auto "panes panes" auto "pane details" minmax(0, 1fr) / minmax(0, 1fr) 320px;
  }
  .pjit-inspector .frame.compare > .panes {
    grid-area: panes;
    display: flex;
    border-bottom: 1px solid var(--rule);
  }
  .compare .panes [data-tab="details"] {
    display: none;
  }
  .pjit-inspector .frame.compare > :is(.list, .centre, .totals) {
    grid-area: pane;
    max-height: none;
    border: 0;
    display: none;
  }
  .pjit-inspector .frame.compare > .details,
  .pjit-inspector .compare[data-pane="list"] > .list.list,
  .pjit-inspector .compare[data-pane="details"] > .list.list,
  .pjit-inspector .compare[data-pane="graph"] > .centre.centre,
  .pjit-inspector .compare[data-pane="axes"] > .totals.totals {
    display: flex;
    flex-direction: column;
  }
  .pjit-inspector .frame.compare > .details {
    grid-area: details;
  }
}
@container (max-width: 759px) {
  .pjit-inspector .frame.compare {
    grid-template: "top" auto "panes" auto "pane" minmax(0, 1fr) / minmax(0, 1fr);
  }
  .compare .panes [data-tab="details"] {
    display: block;
  }
  .pjit-inspector .frame.compare > .details {
    grid-area: pane;
    border: 0;
    display: none;
  }
  .pjit-inspector .compare[data-pane="details"] > .list.list.list {
    display: none;
  }
  .pjit-inspector .compare[data-pane="details"] > .details.details {
    display: flex;
  }
}
`;function v(e){return String(e).replace(/\B(?=(\d{3})+(?!\d))/g,",")}function E(e,t){return`${v(e)} ${t}${e===1?"":"s"}`}function V(e,t){let i=[];for(let a of[...e].sort((n,p)=>n-p)){let n=i[i.length-1];n&&a===n[1]+1?n[1]=a:i.push([a,a])}let r=t===void 0?i:i.slice(0,t);return r.map(([a,n])=>n-a>1?`${a}-${n}`:n>a?`${a} ${n}`:`${a}`).join(" ")+(r.length<i.length?" ...":"")}var xt={"all-reduce":"M9.5 2.5H3l3.2 3.7L3 10h6.5","all-gather":"M1.8 1.8h8.4v8.4H1.8zM6 1.8v8.4M1.8 6h8.4","reduce-scatter":"M6 1.5v4M6 5.5L2 10M6 5.5l4 4.5M6 5.5V10","all-to-all":"M1.5 3h2.2l4.6 6h2.2M1.5 9h2.2l4.6-6h2.2M9 1.5L10.5 3 9 4.5M9 7.5L10.5 9 9 10.5","ragged-all-to-all":"M1.5 3h2.2l4.6 6h2.2M1.5 9h2.2l4.6-6h2.2","collective-permute":"M1.5 4h8M7.5 2l2 2-2 2M10.5 8h-8M4.5 6l-2 2 2 2","collective-broadcast":"M2 6h3M5 6l4-4M5 6h4.5M5 6l4 4",kernel:"M2 3h8v6H2z",array:"M2 2.5h8M2 6h8M2 9.5h8M2 2.5v7M10 2.5v7",line:"M2 3h8M2 6h5M2 9h7"};function P(e,t=""){let i=xt[e]??xt.kernel;return f("svg",{class:`glyph ${t}`,viewBox:"0 0 12 12",width:13,height:13,"aria-hidden":"true"},f("path",{d:i}))}function X(e){let t=e.tiles.map((r,o)=>o);t.sort((r,o)=>+(e.tiles[r]===1)-+(e.tiles[o]===1)||e.shape[o]-e.shape[r]||r-o);let i=t.slice(0,2).sort((r,o)=>r-o);return i.length===2?[i[0],i[1]]:[null,i.length?i[0]:null]}function ie(e,t){return Math.max(e,t)<=8?[1,1]:[Math.ceil(e/4),Math.ceil(t/4)]}function re(e,t){let i=new Array(t.length);for(let r=t.length-1;r>=0;r--)i[r]=e%t[r],e=Math.floor(e/t[r]);return i}function gt(e,t=X(e),i=e.tiles.map(()=>0)){let[r,o]=t,a=m=>m===null?1:e.tiles[m],n=ie(a(r),a(o)),p=Math.ceil(a(r)/n[0]),l=Math.ceil(a(o)/n[1]),c=e.tiles.map((m,h)=>h).filter(m=>m!==r&&m!==o),d=Array.from({length:p*l},()=>[]);for(let m=0;m<e.devices.length;m++){let h=re(e.tileOf[m],e.tiles);if(c.some(j=>h[j]!==i[j]))continue;let b=r===null?0:Math.floor(h[r]/n[0]),g=o===null?0:Math.floor(h[o]/n[1]);d[b*l+g].push(e.devices[m])}let x=d.map((m,h)=>({row:Math.floor(h/l),column:h%l,devices:m.sort((b,g)=>b-g)}));return{rowDim:r,columnDim:o,rows:p,columns:l,perBlock:n,depthDims:c,blocks:x}}var se=0;function bt(e,t,i){let r=e.header.shardings[t];if(!r)return null;let o=e.column("shardings.ends"),[a,n]=[t?o[t-1]:0,o[t]];return{shape:i,tiles:r.tiles,spec:r.spec,copies:r.copies,partial:r.partial,devices:e.column("sharding_devices").subarray(a,n),tileOf:e.column("sharding_tiles").subarray(a,n)}}function q(e,t){let i=gt(e,t.dims??X(e),t.behind),{width:r,height:o}=le(e,i,t.width??220),a=i.depthDims.length?9:0,n=e.isPartial||e.partial.length>0,p=n?2:Math.min(3,e.copies-1),l=Math.max(22,6+5.8*vt(e,i).length),c=20+a,d=a+p*3.5+2,x=w([...new Set(O(e,i.rowDim).concat(O(e,i.columnDim)))],t.axes),m=w(e.partial,t.axes),h=[];a&&h.push(f("path",{class:"edge",d:`M0 0l${a} ${-a}h${r}l${-a} ${a}M${r} ${o}l${a} ${-a}v${-o}`}));for(let u=p;u>0;u--){let N=a+u*3.5;h.push(f("rect",{class:n?`copy partial ${m}`:"copy",x:N,y:N-2*a,width:r,height:o}))}let b=`pjit-hatch-${se++}`,g=n||e.copies>1;g&&h.unshift(ae(b,n?m:""));let[j,k]=[r/i.columns,o/i.rows],Z=i.blocks.length-1||1;i.blocks.forEach((u,N)=>{let[D,L]=[u.column*j,u.row*k],Dt=i.blocks.length===1?.3:.22+.5*N/Z,Lt=f("rect",{class:u.devices.length?`block ${x}`:"block empty",x:D,y:L,width:j,height:k,"fill-opacity":Dt});if(h.push(Lt),g&&u.devices.length&&h.push(f("rect",{x:D,y:L,width:j,height:k,fill:`url(#${b})`})),!u.devices.length)return;let tt=f("rect",{class:"ring",x:D+1,y:L+1,width:j-2,height:k-2});oe.set(tt,u.devices),h.push(ne(D+j/2,L+k/2,pe(u.devices,j-6)),tt)}),h.push(...ce(e,i,r,o,a,t.axes));let W=Math.max(0,p*3.5-a)+3,C=[-l,-c,l+r+d+(i.depthDims.length?6:0),c+o+W];return f("svg",{class:"shards",viewBox:C.join(" "),width:C[2],height:C[3],role:"img","aria-label":t.label},h)}var oe=new WeakMap,wt=e=>({...e,tileOf:e.tile_of,copies:new Set(e.tile_of).size>1?1:e.tile_of.length,isPartial:e.is_partial});function ae(e,t){return f("pattern",{id:e,width:5,height:5,patternUnits:"userSpaceOnUse",patternTransform:"rotate(45)"},f("path",{class:`hatch ${t}`,d:"M1 0V5"}))}function ne(e,t,i){let r=i.length*6.2+6;return f("g",{},f("rect",{class:"label",x:e-r/2,y:t-7,width:r,height:14,rx:2}),f("text",{x:e,y:t+3.7},i))}function pe(e,t){for(let i of[void 0,3,2,1]){let r=V(e,i);if(r.length*6.2+6<=t)return r}return String(e[0])}function O(e,t){return t===null||!e.spec||e.tiles[t]===1?[]:e.spec[t]}function le(e,t,i){if(t.columnDim===null)return{width:44,height:30};let r=Math.max(...t.blocks.map(l=>V(l.devices,2).length))*6.2+12,o=t.columns*Math.min(t.columns<=4?60:30,r);if(t.rowDim===null)return{width:Math.min(Math.max(100,o),i),height:28};let a=(e.shape[t.columnDim]||1)/(e.shape[t.rowDim]||1),n=Math.exp(Math.max(-.5,Math.min(.5,Math.log(a)/4))),p=Math.max(62/n,t.rows*(t.rows<=4?20:16.5),44);return{width:Math.min(Math.max(86*n,o,52),i),height:p}}function ce(e,t,i,r,o,a){let n=[];for(let[p,l]of[[t.columnDim,!0],[t.rowDim,!1]]){if(p===null)continue;let c=O(e,p),d=w(c,a),[x,m]=l?[i,t.columns]:[r,t.rows];if(e.tiles[p]>1){let k=x/m,W=Array.from({length:m},(C,u)=>[u*k+1.2,(u+1)*k-1.2]).map(([C,u])=>l?`M${C} ${-o-3}H${u}`:`M-3 ${C}V${u}`).join("");n.push(f("path",{class:`ruler ${d}`,d:W,transform:l?`translate(${o} 0)`:void 0}))}let h=c.length?`${e.shape[p]} ${c.join(" ")}`:e.tiles[p]>1&&e.tiles[p]<e.shape[p]?`${e.shape[p]} / ${e.tiles[p]}`:String(e.shape[p]),g=h.length<=3?{x:-12,y:r/2+4}:{x:-9,y:r/2,transform:`rotate(-90 -9 ${r/2})`},j=l?{x:(i+o)/2,y:-o-8}:g;n.push(f("text",{class:`dim ${d}`,...j},h))}if(t.depthDims.length){let p=vt(e,t),l=t.depthDims.flatMap(c=>O(e,c));n.push(f("text",{class:`dim depth ${w(l,a)}`,x:-4,y:-o+1,"text-anchor":"end"},p))}return n}var vt=(e,t)=>t.depthDims.map(i=>[e.shape[i],...O(e,i)].join(" ")).join(" \xD7 ");function jt(e,t){let i=(n,p)=>s("figure",{},q(wt(n),{axes:t,width:84,label:`${p}: ${n.words}, ${n.caption}`}),s("figcaption",{},`${p}: ${n.caption}`,s("br"),s("code",{},n.words))),r=i(e.before,"before"),o=Number(r.querySelector("svg")?.getAttribute("height")??0),a={class:"arrow","aria-hidden":"true",style:{"margin-top":`${Math.max(16,o/2-8)}px`}};return s("div",{class:"moves"},s("div",{class:"pair"},r,s("span",a,"\u2192"),i(e.after,"after")),s("p",{class:"dim small"},e.note))}var yt=["before","after"];function $t(e){let t=s("section",{class:"details","aria-label":"Details",tabindex:0}),i=()=>{let r=e.selected;t.replaceChildren(...r?he(e,r):de(e)),t.scrollTop=0};return e.listen(r=>(r.has("row")||r.has("list")||r.has("data"))&&i()),i(),t}function de(e){let t=e.first.is_empty?"Both programs are the same.":"Choose a row or a box. \u2191 \u2193 walk the list.";return[s("h2",{},"Nothing selected"),s("p",{class:"dim"},t)]}function he(e,t){let{first:i}=e,r=t.axes===void 0?null:i.axis_sets[t.axes],o=t.status==="same",[a,n]=t.sides;return[s("h2",{class:r?w(r.axes,i.axes):"ax-none"},P(t.glyph)," ",r?[t.kind," over ",A(r.words,r.axes,null,i.axes)]:s("bdi",{},t.name)),s("p",{},S(t.status),t.number>1?` \xD7 ${t.number}; the figures below are of all`:""),r?s("p",{class:"code"},s("bdi",{},t.name)):null,t.reason.length?s("p",{class:"cause because"},s("b",{},"Because "),M(t.reason,i.axes)):o?null:s("p",{class:"dim"},"Why it differs: no cause known."),fe(t),...o?[s("h3",{},"In both programs"),...kt(e,n,"both")]:[a,n].flatMap((p,l)=>[s("h3",{class:"sidehead"},yt[l],s("span",{},l?t.after:t.before)),...p?kt(e,p,yt[l]):[s("p",{class:"dim"},me[l])]]),t.by.length?s("p",{class:"dim small"},`Joined by ${t.by.join(", ")}.`):null].filter(p=>p!==null)}var me=["Not there: no evidence joins it to anything in the program before.","Not there: no evidence joins it to anything in the program after."];function fe(e){return e.changes.length?s("table",{class:"changes"},s("thead",{},s("tr",{},["of one","before","after"].map(t=>s("th",{scope:"col"},t)))),s("tbody",{},e.changes.map(([t,i,r])=>s("tr",{},s("th",{scope:"row"},t),s("td",{},i),s("td",{},s("b",{},r)))))):null}function kt(e,t,i){let{axes:r}=e.first;return[...(t.causes??[]).map(o=>s("p",{class:"cause"},M(o,r))),t.picture?jt(t.picture,r):null,t.shape?ue(e,t,i):null,t.line?s("code",{class:"line"},t.line):null,s("dl",{class:"pairs"},t.figures.map(([o,a])=>[s("dt",{},o),s("dd",{class:"code"},a)])),t.facts?.length?s("details",{},s("summary",{},`${E(t.facts.length,"fact")} behind it`),s("ul",{class:"facts"},t.facts.map(o=>s("li",{},M(o,r))))):null,t.names?s("p",{class:"dim small code"},t.names):null].filter(o=>o!==null)}function ue(e,t,i){let r=e.data&&bt(e.data,t.sharding,t.shape);if(!r)return s("p",{class:"dim small"},"No picture: how it is cut is unknown, or follows no mesh axes.");let o=`${i}: ${t.figures.map(a=>a.join(" ")).join(", ")}`;return s("div",{class:"picture"},q(r,{axes:e.first.axes,width:200,label:o}))}var z=["collectives","kernels"],F=class{constructor(t){this.first=t,this.data=null,this.listeners=[],this.isNarrow=()=>!1,this.state={list:"collectives",onlyChanged:!0,status:null,axes:null,box:null,row:null,pane:"list"}}listen(t){this.listeners.push(t)}set(t){let i=this.state,r=new Set(Object.keys(t).filter(o=>i[o]!==t[o]));Object.assign(this.state,t),r.size&&this.listeners.forEach(o=>o(r))}open(t){this.data=t,this.listeners.forEach(i=>i(new Set(["data"]))),this.set({row:this.shown()[0]??null})}get rows(){return this.data?.header.lists[this.state.list]?.rows??[]}get selected(){return this.state.row===null?null:this.rows[this.state.row]??null}shown(){let{onlyChanged:t,status:i,axes:r,box:o,list:a}=this.state,n=[];for(let[p,l]of this.rows.entries())(i?l.status!==i:t&&l.status==="same")||a==="collectives"&&r!==null&&l.axes!==r||z.includes(a)&&o!==null&&!l.boxes.includes(o)||n.push(p);return n}filter(t){this.set(t),this.set({row:this.shown()[0]??null})}};var xe=["collectives","arguments","results","shardings","kernels"],J=150,ge=178,be=["data","list","onlyChanged","status","axes","box"],we="Rows with something in that box; their figures are of all that is alike, in other boxes too.";function Mt(e){let t=xe.filter(p=>St(e,p,R)>0||p==="collectives"),i=I("Lists",[...t.map(p=>[p,[p," ",Ct(ve(e,p))]]),["around","source"]],()=>e.state.list,p=>e.filter({list:p,status:null,axes:null,...z.includes(p)?{}:{box:null}})),r=s("div",{class:"chips",role:"group","aria-label":"Filters"}),o=s("div",{class:"heads dim small","aria-hidden":"true"}),a=s("div",{class:"rows"}),n=new Y(e,a);return e.listen(p=>{if(be.some(l=>p.has(l))){i.update();let l=e.state.list!=="around";r.replaceChildren(...l?je(e):[]),o.hidden=r.hidden=!l,o.replaceChildren(...ye(e)),l?n.draw():a.replaceChildren(...ke(e))}else p.has("row")&&n.mark()}),s("section",{class:"list","aria-label":"What changed"},i.bar,r,o,a)}function St(e,t,i){let r=e.first.counts[t]??{};return i.reduce((o,a)=>o+(r[a]??0),0)}var ve=(e,t)=>St(e,t,R.filter(i=>i!=="same")),Ct=e=>s("span",{class:"count"},v(e));function je(e){let{state:t}=e,i=(a,n,p)=>s("button",{type:"button",class:"chip","aria-pressed":String(n),onclick:p},a),r=e.first.counts[t.list]??{},o=[i("only what changed",t.onlyChanged&&!t.status,()=>e.filter({onlyChanged:t.status?!0:!t.onlyChanged,status:null})),...R.filter(a=>r[a]).map(a=>i([S(a),Ct(r[a])],t.status===a,()=>e.filter({status:t.status===a?null:a})))];return t.axes!==null&&o.push(i(["over ",e.first.axis_sets[t.axes].words," \xD7"],!0,()=>e.filter({axes:null}))),t.box!==null&&o.push(i([Q(e,t.box)," \xD7"],!0,()=>e.filter({box:null}))),o}function Q(e,t){let i=e.data?.header.graph,r=i.boxes[t],o=i.columns[r.column];return`${i.rows[r.row].label}${o?`, ${o}`:""}`}function ye(e){let t=e.data?.header.lists[e.state.list];return t?["",`what, where; ${t.unit} ${t.what}`,"before","after","difference"].map(r=>s("span",{title:r},r)):[]}var Y=class{constructor(t,i){this.store=t,this.box=i,this.shown=[],this.drawn=0,this.most=1,this.listbox=s("div",{role:"listbox",tabindex:0,"aria-label":"Rows, largest difference first",onkeydown:r=>this.key(r)})}draw(){this.shown=this.store.shown(),this.drawn=0,this.most=Math.max(1,...this.store.rows.map(i=>Math.abs(i.bytes))),this.listbox.replaceChildren();let t=this.shown.length?[this.listbox]:[s("p",{class:"nothing"},this.nothing())];this.box.replaceChildren(...t,...this.below()),this.grow(J),this.box.scrollTop=0,this.mark()}nothing(){let{state:t,first:i,data:r}=this.store;if(!r)return"Reading the programs ...";if(t.box!==null||t.axes!==null||t.status)return"Nothing of that kind is here.";let o=i.counts[t.list]?.same??0;return o?`Nothing changed: ${v(o)} ${o===1?"is":"are"} the same in both programs.`:`Neither program has ${t.list}.`}below(){let t=this.store.data?.header.lists[this.store.state.list],[i,r]=t?.left_out??[0,0],o=this.store.state.onlyChanged?i:i+r,a=`${E(o,"more kind")} not on this page: d.${this.store.state.list} has all`;this.more=s("button",{type:"button",class:"more",onclick:()=>this.grow(J)},"Show more");let n=[o?a:"",this.store.state.box===null?"":we,t?.note??""].filter(Boolean);return[this.more,...n.map(p=>s("p",{class:"nothing"},p))]}grow(t){let i=this.shown.slice(this.drawn,this.drawn+t);this.listbox.append(...i.map(o=>this.row(o))),this.drawn+=i.length;let r=this.shown.length-this.drawn;this.more&&(this.more.hidden=!r,this.more.textContent=`Show ${v(Math.min(r,J))} of ${v(r)} more`)}row(t){let i=this.store.rows[t],{first:r}=this.store,o=i.axes===void 0?null:r.axis_sets[i.axes],a=o?w(o.axes,r.axes):"ax-none",n=Math.sqrt(Math.abs(i.bytes)/this.most),p=[i.kind,o&&A(o.words,o.axes,null,r.axes),...i.more].filter(Boolean);return s("div",{class:`row ${a}`,role:"option",id:`row-${t}`,"data-at":t,"aria-selected":"false",onclick:()=>this.store.set({row:t,...this.store.isNarrow()?{pane:"details"}:{}})},T(i.status),P(i.glyph),s("span",{class:"name",title:i.name},s("bdi",{},i.name),i.number>1?s("span",{class:"dim"},` \xD7 ${v(i.number)}`):null),s("span",{class:"sub"},p.flatMap((l,c)=>c?[c===1&&o?" ":" \xB7 ",l]:[l])),s("span",{class:"cell before"},i.before),s("span",{class:"cell after"},i.after),s("span",{class:`cell difference ${_(i.bytes)}`},i.difference),n?s("span",{class:"bar",style:{width:`${Math.round(ge*n)}px`}}):null)}mark(){let{row:t}=this.store.state;this.listbox.querySelector('[aria-selected="true"]')?.setAttribute("aria-selected","false");let i=t===null?null:this.listbox.querySelector(`[data-at="${t}"]`);i?.setAttribute("aria-selected","true"),i?this.listbox.setAttribute("aria-activedescendant",i.id):this.listbox.removeAttribute("aria-activedescendant")}key(t){let i=G(t,this.shown.indexOf(this.store.state.row??-1),this.shown.length);i!==null&&(t.preventDefault(),i>=this.drawn&&this.grow(i+1-this.drawn),this.store.set({row:this.shown[i]}),this.listbox.querySelector('[aria-selected="true"]')?.scrollIntoView({block:"nearest"}))}};function ke(e){let t=e.data?.header.around;if(!t)return[];let i=t.settings.map(([n,p,l,c])=>s("li",{},s("b",{},`${n} `),s("code",{},p),`: ${l} \u2192 ${c}`)),r=t.source.map(([n,p,l])=>s("li",{class:`edit is-edit-${n}`},T(n),s("code",{class:"dim"},p),s("code",{},l))),o=t.warnings.map(([n,p])=>s("li",{},T(n),` ${p}`)),a=(n,p,l)=>[s("h2",{class:"minor"},n),p.length?s("ul",{class:"around"},p):s("p",{class:"dim"},l)];return[s("div",{class:"aroundbox",tabindex:0,role:"region","aria-label":"Source and settings"},a("Source",r,"The lines of the user's functions are the same, or their text is not recorded."),a("Flags, versions, mesh, devices",i,"All are the same."),a("Warnings of XLA",o,"No warning came or went."))]}function Tt(e){let t=s("div",{class:"matrixbox",tabindex:0,role:"region","aria-label":"Graph of both programs"});return e.listen(i=>{(i.has("data")||i.has("onlyChanged"))&&t.replaceChildren(...$e(e)),["data","box","row","list","onlyChanged"].some(r=>i.has(r))&&Be(e,t)}),s("section",{class:"centre","aria-label":"Graph"},s("h2",{class:"minor"},"Both programs by scope and phase; equal layers together"),t,s("p",{class:"legend dim small"},["less","more","removed","added"].map(i=>s("span",{class:`swatch fill-${i}`},S(i))),e.first.incomplete.length?" of bytes sent, in the part that is there; counts and sizes: before \u2192 after":" of bytes sent; counts and sizes: before \u2192 after; boxes are joined by scope and phase"))}function $e(e){let t=e.data?.header.graph;if(!t)return[];if(t.missing)return[s("p",{class:"nothing"},t.missing)];let i=Me(t,e.state.onlyChanged),r=new Map,o=1;t.boxes.forEach((c,d)=>{r.set(`${c.row} ${c.column}`,d),o=Math.max(o,Math.abs(c.bytes[1]-c.bytes[0]))});let a=[...t.columns.keys()].filter(c=>[...i].some(d=>r.has(`${d} ${c}`))),n=a.map(c=>s("th",{scope:"col"},t.columns[c]||"program")),p=t.rows.flatMap((c,d)=>{if(!i.has(d))return[];let x=a.map(m=>{let h=r.get(`${d} ${m}`);return s("td",{},h===void 0?null:Ce(e,h,o))});return[s("tr",{class:c.is_group?"group":void 0},Se(c),x)]}),l=t.rows.length-i.size;return[s("table",{class:"matrix"},s("thead",{},s("tr",{},s("th",{scope:"col"},"scope"),n)),[s("tbody",{},p)]),...l?[s("p",{class:"nothing"},`${v(l)} scopes are the same in both programs.`)]:[]]}function Me(e,t){let i=new Set;for(let a of e.boxes)(!t||a.status!=="same")&&i.add(a.row);let r=new Set,o=0;for(let a=e.rows.length-1;a>=0;a--){let n=e.rows[a],p=o>n.depth;!i.has(a)&&!p||(o=n.depth,(a||i.has(a))&&r.add(a))}return r}function Se(e){let[t,i]=e.counts,r=t===i?i>1?`\xD7 ${i}`:"":`\xD7 ${t} \u2192 ${i}`;return s("th",{scope:"row",style:{"--depth":Math.max(0,e.depth-1)}},e.status==="same"?null:T(e.status),s("b",{},s("bdi",{},e.label)),r?s("span",{class:"times"},r):null,e.holds?s("span",{class:"dim small holds"},e.holds):null)}function Ce(e,t,i){let{first:r,data:o}=e,a=o?.header.graph.boxes[t],n=a.bytes[1]-a.bytes[0],p=a.status==="changed"?"same":a.status,l=Math.round(25+75*Math.sqrt(Math.abs(n)/i));return s("button",{type:"button",class:`graphbox fill-${p}`,"data-box":t,"aria-pressed":"false",style:{"--strength":`${l}%`},title:"List what is in it",onclick:()=>Ae(e,t)},s("span",{class:"offscreen"},`${Q(e,t)}: `),s("span",{class:"boxhead"},s("span",{},`${At(a.kernels)} kernels`),s("b",{class:_(n)},Ee(a,n))),a.lines.map(c=>{let d=r.axis_sets[c.axes];return s("span",{class:`moveline${c.status==="same"?" dim":""}`},s("span",{},`${At(c.counts)} ${c.kind} `,A(d.words,d.axes,null,r.axes)),s("span",{},c.sent))}),a.more?s("span",{class:"dim small"},`and ${E(a.more,"more kind")}`):null)}function Ae(e,t){let i=e.state.box===t,r=Te(e,e.data?.header.graph.boxes[t]);e.filter({list:r,box:i?null:t,status:null,axes:null}),!i&&!e.shown().length&&e.filter({status:"same"}),e.isNarrow()&&e.set({pane:"list"})}function Te(e,t){return e.state.list==="kernels"||!t.lines.length?"kernels":"collectives"}function Ee(e,t){let[i,r]=y[e.status];return t?`${e.status==="less"||e.status==="more"?i:r} ${e.difference}`:`${i} ${r}`}var At=([e,t])=>e===t?v(t):`${v(e)} \u2192 ${v(t)}`;function Be(e,t){let i=new Set(z.includes(e.state.list)?e.selected?.boxes??[]:[]);t.querySelectorAll("[data-box]").forEach(r=>{let o=Number(r.dataset.box);r.setAttribute("aria-pressed",String(e.state.box===o)),r.classList.toggle("has-selected",i.has(o))})}async function Et(e,t,i=e.data?.header.text){if(!i)return;let r=await Oe(i)||ze(i,t),o=t.dataset.words??t.textContent??"";t.dataset.words=o,t.textContent=r?"Copied":"Copying was refused",setTimeout(()=>{t.textContent=o},1500)}async function Oe(e){let t=document.permissionsPolicy??document.featurePolicy;if(t&&!t.allowsFeature("clipboard-write"))return!1;try{return await navigator.clipboard.writeText(e),!0}catch{return!1}}function ze(e,t){let i=s("textarea",{class:"offscreen","aria-hidden":"true"});i.value=e,t.after(i),i.select();try{return document.execCommand("copy")}catch{return!1}finally{i.remove(),t.focus()}}function Ot(e){let{first:t}=e,i=s("button",{type:"button",class:"button",onclick:()=>Et(e,i)},"Copy as text");return s("header",{class:"top",tabindex:0},s("div",{class:"title"},s("h1",{class:"what"},M(t.title,t.axes)),i),t.incomplete.length?Bt("Incomplete program ",t.incomplete,t.axes):null,t.parity.length?Bt("Not the same work: ",t.parity,t.axes):null,s("p",{class:"answer"},M(t.answer,t.axes)),s("ul",{class:"figures",tabindex:0,"aria-label":"Figures of both programs"},t.figures.map(Ne)),t.notes.length?s("p",{class:"dim small"},zt(t.notes,t.axes)):null)}function zt(e,t){return e.flatMap((i,r)=>[r?"; ":"",...M(i,t)])}function Bt(e,t,i){return s("p",{class:"parity",role:"note"},s("b",{},e),zt(t,i))}function Ne(e){let[t]=y[e.status],i=e.status==="less"||e.status==="more";return s("li",{},s("span",{class:"dim small"},e.label),s("span",{class:"both"},e.before," \u2192 ",s("b",{},e.after)),s("span",{class:"small"},s("span",{class:i?`is-${e.status}`:"dim"},`${i?`${t} `:""}${e.change}`),s("span",{class:"dim"},` \xB7 ${e.how}`)))}function Nt(e){if(parent===window)return;let t=[[".rows",".totals"],[".matrixbox",".legend"]].map(([r,o])=>De(e.querySelector(r))+Le(e.querySelector(o))),i=Math.ceil(Math.min(720,Math.max(400,...t)));parent.postMessage({pjitInspect:{height:i}},"*")}function De(e){if(!e)return 0;let t=e.getBoundingClientRect(),i=e.lastElementChild?.getBoundingClientRect().bottom??t.top;return Math.max(i+e.scrollTop,t.top+48)}function Le(e){return e?e.getBoundingClientRect().height:0}var Ie={list:"What changed, one a row",graph:"Both programs, scopes by phases",details:"What is selected, before and after",axes:"What is sent over each mesh axis"},Re=760;function _e(e,t){let i=new F(t),r=t.incomplete.length>0;r&&mt();let o=I("Panes",Object.entries(Ie).map(([n,p])=>[n,n,p]),()=>i.state.pane,n=>i.set({pane:n}));o.bar.classList.add("panes");let a=s("div",{class:`frame compare${r?" of-parts":""}`,"data-pane":"list"},Ot(i),o.bar,Mt(i),Tt(i),$t(i),ft(i));return i.isNarrow=()=>e.clientWidth<Re,i.listen(n=>{n.has("pane")&&(a.dataset.pane=i.state.pane,o.update())}),e.classList.add("pjit-inspector"),e.replaceChildren(a),i}function Pe(){let e=new URLSearchParams(location.hash.slice(1)).get("theme");e&&(document.documentElement.dataset.theme=e)}async function qe(){let e=document.getElementById("pjit-inspector"),t=document.getElementById("pjit-first"),i=document.getElementById("pjit-blob");if(!e||!t||!i)return;Pe();let r=_e(e,JSON.parse(t.textContent??""));try{r.open(it(await st(rt(i.textContent??"")))),requestAnimationFrame(()=>Nt(e)),performance.mark("pjit-ready"),e.setAttribute("data-ready","true")}catch(o){e.append(s("p",{class:"nothing"},`The rest of this page could not be read: ${o}`))}}document.head.append(s("style",{},`${ht}
${nt}
${ut}`));qe();
