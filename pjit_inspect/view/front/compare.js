var Rt="http://www.w3.org/2000/svg",Z={ArrowDown:1,ArrowRight:1,ArrowUp:-1,ArrowLeft:-1};function tt(t,e,i){let r=i[0]&&Object.getPrototypeOf(i[0])===Object.prototype,[s,n]=r?[i[0],i.slice(1)]:[{},i];e.length&&t.setAttribute("class",e.join(" "));for(let[a,p]of Object.entries(s))if(!(p==null||p===!1))if(a.startsWith("on"))t.addEventListener(a.slice(2),p);else if(a==="style")for(let[l,c]of Object.entries(p))t.style.setProperty(l,String(c));else t.setAttribute(a,p===!0?"":String(p));return t.append(..._t(n)),t}var _t=t=>t.flat(1/0).filter(e=>e!=null&&e!==!1);function o(t,...e){let[i,...r]=t.split("."),s=document.createElement(i);return i==="button"&&s.setAttribute("type","button"),tt(s,r,e)}function f(t,...e){let[i,...r]=t.split(".");return tt(document.createElementNS(Rt,i),r,e)}function et(t,e,i){let r=o("tr",e.map(n=>o("th",{scope:"col"},n))),s=i.map(([n,...a])=>o("tr",o("th",{scope:"row"},n),a.map(p=>o("td",p))));return o(t,o("thead",r),o("tbody",s))}function W(t,e,i){return i?t.key in Z?Math.max(0,Math.min(i-1,e+Z[t.key])):t.key==="Home"?0:t.key==="End"?i-1:null:null}function L(t,e,i,r){let s=e.map(([p,l,c])=>o("button",{role:"tab",title:c,"data-tab":p,onclick:()=>r(p)},l)),n=o("div.tabs",{role:"tablist","aria-label":t,onkeydown:p=>{let l=W(p,e.findIndex(([c])=>c===i()),e.length);l!==null&&(p.preventDefault(),r(e[l][0]),s[l].focus())}},s),a=()=>{e.forEach(([p],l)=>{s[l].setAttribute("aria-selected",String(p===i())),s[l].tabIndex=p===i()?0:-1})};return a(),{bar:n,update:a}}var qt="PJITVIEW",Ft={i4:Int32Array,u1:Uint8Array,u4:Uint32Array,f8:Float64Array,s4:Uint32Array},U=class{constructor(e,i){this.bytes=e,this.ends=i,this.length=i.length,this.decoder=new TextDecoder}at(e){let i=e?this.ends[e-1]:0;return this.decoder.decode(this.bytes.subarray(i,this.ends[e]))}longest(){let e=0;for(let i=0,r=0;i<this.length;r=this.ends[i++])e=Math.max(e,this.ends[i]-r);return e}};function it(t){let e=new TextDecoder;if(e.decode(new Uint8Array(t,0,8))!==qt)throw new Error("this is no inspector data");let[i,r]=new Uint32Array(t,8,2);if(i!==1)throw new Error(`inspector data of version ${i}; this page reads version 1`);let s=JSON.parse(e.decode(new Uint8Array(t,16,r))),n=16+r,a=new Set,p=d=>d in s.columns,l=d=>{if(!p(d))return new Int32Array(0);let[j,m,h]=s.columns[d],g=new Ft[j](t,n+m,h);if(j!=="s4"||a.has(d))return g;a.add(d);for(let x=1;x<h;x++)g[x]+=g[x-1];return g};return{header:s,column:l,strings:d=>new U(l(d),l(`${d}.ends`)),has:p}}function rt(t){let e=atob(t.trim()),i=new Uint8Array(e.length);for(let r=0;r<e.length;r++)i[r]=e.charCodeAt(r);return i}async function ot(t){let e=new Blob([t]).stream().pipeThrough(new DecompressionStream("deflate"));return await new Response(e).arrayBuffer()}var Wt=async t=>it(await ot(t)),st=t=>Wt(rt(document.getElementById(t)?.textContent??""));async function nt(t,e){if(typeof document>"u")return;let[i,r]=["pjit-inspector","pjit-first"].map(a=>document.getElementById(a));if(!i||!r)return;document.head.append(o("style",t));let s=new URLSearchParams(location.hash.slice(1)).get("theme");s&&(document.documentElement.dataset.theme=s);let n=e(i,JSON.parse(r.textContent??""),st);try{n(await st("pjit-blob")),performance.mark("pjit-ready"),i.setAttribute("data-ready","true")}catch(a){i.append(o("p.nothing",`The rest of this page could not be read: ${a}`))}}var at=`.pjit-inspector,
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
/* What a browser gives elements, away: each rule says what is its own. */
:where(.pjit-inspector) :is(h1, h2, h3, p, ul, ol, dl, dd, figure) {
  margin: 0;
}
:where(.pjit-inspector) ul:not(.facts, .memhelp) {
  list-style: none;
}
:where(.pjit-inspector) table {
  border-collapse: collapse;
}
:where(.pjit-inspector) :is(th, td) {
  font-weight: 400;
  text-align: left;
}
:where(.pjit-inspector) :is(button, summary) {
  cursor: pointer;
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
  font-size: 11px;
  color: var(--dim);
}
.pjit-inspector h3,
.pjit-inspector h2.minor {
  font: 600 11px/16px var(--ui);
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
.pjit-inspector .question th {
  font-weight: normal;
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
  padding-left: 14px;
  font-size: 11px;
  line-height: 16px;
  color: var(--dim);
  overflow-wrap: anywhere;
}
.pjit-inspector .places {
  padding-left: 0;
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
}
.pjit-inspector .link {
  text-align: left;
  border: 0;
  background: none;
  padding: 0;
  color: var(--select) !important;
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
  text-align: left;
  display: grid;
  grid-template-columns: minmax(60px, 88px) minmax(0, 1fr) minmax(64px, auto) minmax(90px, auto);
  gap: 6px;
  width: 100%;
  border: 1px solid transparent;
  border-radius: 3px;
  background: none;
  padding: 2px 2px;
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
`;var Ht=`
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
track #eef0f2 #262a30`,dt=Ht.trim().split(`
`).map(t=>t.split(" ")),$=t=>dt.map(e=>e[t]&&e[t]!=="-"?`--${e[0]}:${e[t]};`:"").join(""),H=":root:not([data-theme=light])",[Gt,pt]=["dark","light"].map(t=>`.pjit-inspector.pjit-inspector.${t}`),lt=`:root[data-theme=dark] .pjit-inspector,${Gt}`,Kt=`${H},${H} .pjit-inspector,:host .pjit-inspector`,ct="@media (prefers-contrast:more)",Vt={ax:"c",mem:"m",scope:"m"},Xt=dt.map(([t])=>[t,Vt[t.split("-")[0]]]).filter(([,t])=>t).map(([t,e])=>`.${t}{--${e}:var(--${t})}`),ht=`
${Xt.join("")}
:root,.pjit-inspector{${$(1)}color-scheme:light dark}
@media (prefers-color-scheme:dark){${Kt}{${$(2)}}}
:root[data-theme=light],${pt}{${$(1)}color-scheme:light}
:root[data-theme=dark],${lt}{${$(2)}color-scheme:dark}
${ct}{:root,.pjit-inspector.pjit-inspector,${pt}{${$(3)}}${lt}{${$(4)}}}
${ct} and (prefers-color-scheme:dark){${H} .pjit-inspector.pjit-inspector:not(.light),:host .pjit-inspector.pjit-inspector:not(.light){${$(4)}}}
@media (forced-colors:active){.pjit-inspector.pjit-inspector.pjit-inspector{${$(5)}}}
`;function b(t){return String(t).replace(/\B(?=(\d{3})+(?!\d))/g,",")}function A(t,e){return`${b(t)} ${e}${t===1?"":"s"}`}function G(t,e){let i=[];for(let n of[...t].sort((a,p)=>a-p)){let a=i[i.length-1];a&&n===a[1]+1?a[1]=n:i.push([n,n])}let r=e===void 0?i:i.slice(0,e);return r.map(([n,a])=>a-n>1?`${n}-${a}`:a>n?`${n} ${a}`:`${n}`).join(" ")+(r.length<i.length?" ...":"")}function w(t,e){if(!t||!t.length)return"ax-none";if(t.length>1)return"ax-many";let i=e.indexOf(t[0].split(":(")[0]);return i<0||i>3?"ax-many":`ax-${i}`}function M(t,e){return t.map(i=>Jt(i,e))}function Jt(t,e){return typeof t=="string"?t:"strong"in t&&typeof t.strong=="string"?o("b",t.strong):"dim"in t?o("span.dim",t.dim):"name"in t?o("b.code",t.name):"code"in t?o("code",t.code):"axis"in t?T(t.axis,t.axes,t.size,e):"number"in t?Yt(t):""}function T(t,e,i,r){return o("span",{class:`axis ${w(e,r)}`},i===null?t:`${t} ${i}`)}function Yt(t){let e=t.unit?`${t.number}\xA0${t.unit}`:t.number,i=t.how==="counted"||!t.unit?void 0:t.how;return o(t.strong?"b":"span",{title:i},e)}function mt(t,e){if(!t?.length)return null;let i=t.map(r=>o("li",M(r,e)));return o("details",o("summary",`${A(t.length,"fact")} behind it`),o("ul.facts",i))}var ft=t=>o("dl.pairs",t.filter(([,e])=>e).map(([e,i])=>[o("dt",e),o("dd.code",i)]));var y={removed:["\u2212","removed"],added:["+","added"],less:["\u25BC","less"],more:["\u25B2","more"],changed:["\u2248","changed"],same:["=","same"]};function ut(){y.removed[1]="only before",y.added[1]="only after"}var P=Object.keys(y);function B(t){let[e,i]=y[t];return o("span",{class:`sign is-${t}`,title:i},e,o("span.offscreen",` ${i}`))}function S(t){let[e,i]=y[t];return o("span",{class:`statusword is-${t}`},`${e} ${i}`)}function I(t){return t<0?"is-less":t>0?"is-more":"is-same"}function xt(t){let{first:e}=t,{unit:i,rows:r}=e.bars,s=r.map(n=>{let a=e.axis_sets[n.axes];return o("button",{class:`axisrow ${w(a.axes,e.axes)}`,"aria-pressed":"false",onclick:()=>t.filter({list:"collectives",axes:t.state.axes===n.axes?null:n.axes,status:null})},o("span.axis",{title:a.words},a.words),o("span.track",{"aria-hidden":"true"},o("span.bar.before",{style:{width:`${100*n.shares[0]}%`}}),o("span.bar.after",{style:{width:`${100*n.shares[1]}%`}})),o("span.sent",n.sent),o("span.became",e.incomplete.length?null:[S(n.status),Qt(n)?` ${n.change}`:null]),o("span.dim.number",`${n.counts} ${n.counts==="1"?"collective":"collectives"}`))});return t.listen(n=>{n.has("axes")&&r.forEach((a,p)=>s[p].setAttribute("aria-pressed",String(t.state.axes===a.axes)))}),o("section.totals",{"aria-label":"Sends, by mesh axis"},o("h2.minor",`Each device sends per call (${i}), by mesh axis${e.incomplete.length?", in the part that is there":""} `,o("span.key",o("i.before"),"before ",o("i.after"),"after")),o("div.axisrows",s.length?s:o("p.dim",e.unsent??"Nothing is sent.")))}var Qt=t=>t.status==="less"||t.status==="more";var gt=`/* The page that compares two programs. Less and more never speak by colour alone: a sign and a word are beside it. */
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
  text-align: left;
  display: grid;
  width: 100%;
  grid-template-columns: 26% minmax(0, 1fr) 116px;
  column-gap: 8px;
  align-items: center;
  border: 1px solid transparent;
  border-radius: 4px;
  background: none;
  padding: 3px 4px;
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
  font-weight: 600;
  padding: 4px 0;
}
.compare .matrix tbody th {
  vertical-align: top;
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
  vertical-align: top;
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
`;var bt={"all-reduce":"M9.5 2.5H3l3.2 3.7L3 10h6.5","all-gather":"M1.8 1.8h8.4v8.4H1.8zM6 1.8v8.4M1.8 6h8.4","reduce-scatter":"M6 1.5v4M6 5.5L2 10M6 5.5l4 4.5M6 5.5V10","all-to-all":"M1.5 3h2.2l4.6 6h2.2M1.5 9h2.2l4.6-6h2.2M9 1.5L10.5 3 9 4.5M9 7.5L10.5 9 9 10.5","ragged-all-to-all":"M1.5 3h2.2l4.6 6h2.2M1.5 9h2.2l4.6-6h2.2","collective-permute":"M1.5 4h8M7.5 2l2 2-2 2M10.5 8h-8M4.5 6l-2 2 2 2","collective-broadcast":"M2 6h3M5 6l4-4M5 6h4.5M5 6l4 4",kernel:"M2 3h8v6H2z",array:"M2 2.5h8M2 6h8M2 9.5h8M2 2.5v7M10 2.5v7",line:"M2 3h8M2 6h5M2 9h7"};function R(t,e=""){let i=bt[t]??bt.kernel;return f("svg",{class:`glyph ${e}`,viewBox:"0 0 12 12",width:13,height:13,"aria-hidden":"true"},f("path",{d:i}))}function K(t){let e=t.tiles.map((r,s)=>s);e.sort((r,s)=>+(t.tiles[r]===1)-+(t.tiles[s]===1)||t.shape[s]-t.shape[r]||r-s);let i=e.slice(0,2).sort((r,s)=>r-s);return i.length===2?[i[0],i[1]]:[null,i.length?i[0]:null]}function te(t,e){return Math.max(t,e)<=8?[1,1]:[Math.ceil(t/4),Math.ceil(e/4)]}function ee(t,e){let i=new Array(e.length);for(let r=e.length-1;r>=0;r--)i[r]=t%e[r],t=Math.floor(t/e[r]);return i}function wt(t,e=K(t),i=t.tiles.map(()=>0)){let[r,s]=e,n=m=>m===null?1:t.tiles[m],a=te(n(r),n(s)),p=Math.ceil(n(r)/a[0]),l=Math.ceil(n(s)/a[1]),c=t.tiles.map((m,h)=>h).filter(m=>m!==r&&m!==s),d=Array.from({length:p*l},()=>[]);for(let m=0;m<t.devices.length;m++){let h=ee(t.tileOf[m],t.tiles);if(c.some(v=>h[v]!==i[v]))continue;let g=r===null?0:Math.floor(h[r]/a[0]),x=s===null?0:Math.floor(h[s]/a[1]);d[g*l+x].push(t.devices[m])}let j=d.map((m,h)=>({row:Math.floor(h/l),column:h%l,devices:m.sort((g,x)=>g-x)}));return{rowDim:r,columnDim:s,rows:p,columns:l,perBlock:a,depthDims:c,blocks:j}}var ie=0;function vt(t,e,i){let r=t.header.shardings[e];if(!r)return null;let s=t.column("shardings.ends"),[n,a]=[e?s[e-1]:0,s[e]];return{shape:i,tiles:r.tiles,spec:r.spec,copies:r.copies,partial:r.partial,devices:t.column("sharding_devices").subarray(n,a),tileOf:t.column("sharding_tiles").subarray(n,a)}}function _(t,e){let i=wt(t,e.dims??K(t),e.behind),{width:r,height:s}=ae(t,i,e.width??220),n=i.depthDims.length?9:0,a=t.isPartial||t.partial.length>0,p=a?2:Math.min(3,t.copies-1),l=Math.max(22,6+5.8*yt(t,i).length),c=20+n,d=n+p*3.5+2,j=w([...new Set(O(t,i.rowDim).concat(O(t,i.columnDim)))],e.axes),m=w(t.partial,e.axes),h=[];n&&h.push(f("path.edge",{d:`M0 0l${n} ${-n}h${r}l${-n} ${n}M${r} ${s}l${n} ${-n}v${-s}`}));for(let u=p;u>0;u--){let z=n+u*3.5;h.push(f("rect",{class:a?`copy partial ${m}`:"copy",x:z,y:z-2*n,width:r,height:s}))}let g=`pjit-hatch-${ie++}`,x=a||t.copies>1;x&&h.unshift(oe(g,a?m:""));let[v,k]=[r/i.columns,s/i.rows],Y=i.blocks.length-1||1;i.blocks.forEach((u,z)=>{let[N,D]=[u.column*v,u.row*k],Pt=i.blocks.length===1?.3:.22+.5*z/Y,It=f("rect",{class:u.devices.length?`block ${j}`:"block empty",x:N,y:D,width:v,height:k,"fill-opacity":Pt});if(h.push(It),x&&u.devices.length&&h.push(f("rect",{x:N,y:D,width:v,height:k,fill:`url(#${g})`})),!u.devices.length)return;let Q=f("rect.ring",{x:N+1,y:D+1,width:v-2,height:k-2});re.set(Q,u.devices),h.push(se(N+v/2,D+k/2,ne(u.devices,v-6)),Q)}),h.push(...pe(t,i,r,s,n,e.axes));let F=Math.max(0,p*3.5-n)+3,C=[-l,-c,l+r+d+(i.depthDims.length?6:0),c+s+F];return f("svg.shards",{viewBox:C.join(" "),width:C[2],height:C[3],role:"img","aria-label":e.label},h)}var re=new WeakMap,jt=t=>({...t,tileOf:t.tile_of,copies:new Set(t.tile_of).size>1?1:t.tile_of.length,isPartial:t.is_partial});function oe(t,e){return f("pattern",{id:t,width:5,height:5,patternUnits:"userSpaceOnUse",patternTransform:"rotate(45)"},f("path",{class:`hatch ${e}`,d:"M1 0V5"}))}function se(t,e,i){let r=i.length*6.2+6;return f("g",f("rect.label",{x:t-r/2,y:e-7,width:r,height:14,rx:2}),f("text",{x:t,y:e+3.7},i))}function ne(t,e){for(let i of[void 0,3,2,1]){let r=G(t,i);if(r.length*6.2+6<=e)return r}return String(t[0])}function O(t,e){return e===null||!t.spec||t.tiles[e]===1?[]:t.spec[e]}function ae(t,e,i){if(e.columnDim===null)return{width:44,height:30};let r=Math.max(...e.blocks.map(l=>G(l.devices,2).length))*6.2+12,s=e.columns*Math.min(e.columns<=4?60:30,r);if(e.rowDim===null)return{width:Math.min(Math.max(100,s),i),height:28};let n=(t.shape[e.columnDim]||1)/(t.shape[e.rowDim]||1),a=Math.exp(Math.max(-.5,Math.min(.5,Math.log(n)/4))),p=Math.max(62/a,e.rows*(e.rows<=4?20:16.5),44);return{width:Math.min(Math.max(86*a,s,52),i),height:p}}function pe(t,e,i,r,s,n){let a=[];for(let[p,l]of[[e.columnDim,!0],[e.rowDim,!1]]){if(p===null)continue;let c=O(t,p),d=w(c,n),[j,m]=l?[i,e.columns]:[r,e.rows];if(t.tiles[p]>1){let k=j/m,F=Array.from({length:m},(C,u)=>[u*k+1.2,(u+1)*k-1.2]).map(([C,u])=>l?`M${C} ${-s-3}H${u}`:`M-3 ${C}V${u}`).join("");a.push(f("path",{class:`ruler ${d}`,d:F,transform:l?`translate(${s} 0)`:void 0}))}let h=c.length?`${t.shape[p]} ${c.join(" ")}`:t.tiles[p]>1&&t.tiles[p]<t.shape[p]?`${t.shape[p]} / ${t.tiles[p]}`:String(t.shape[p]),x=h.length<=3?{x:-12,y:r/2+4}:{x:-9,y:r/2,transform:`rotate(-90 -9 ${r/2})`},v=l?{x:(i+s)/2,y:-s-8}:x;a.push(f("text",{class:`dim ${d}`,...v},h))}if(e.depthDims.length){let p=yt(t,e),l=e.depthDims.flatMap(c=>O(t,c));a.push(f("text",{class:`dim depth ${w(l,n)}`,x:-4,y:-s+1,"text-anchor":"end"},p))}return a}var yt=(t,e)=>e.depthDims.map(i=>[t.shape[i],...O(t,i)].join(" ")).join(" \xD7 ");function kt(t,e){let i=(a,p)=>o("figure",_(jt(a),{axes:e,width:84,label:`${p}: ${a.words}, ${a.caption}`}),o("figcaption",`${p}: ${a.caption}`,o("br"),o("code",a.words))),r=i(t.before,"before"),s=Number(r.querySelector("svg")?.getAttribute("height")??0),n={class:"arrow","aria-hidden":"true",style:{"margin-top":`${Math.max(16,s/2-8)}px`}};return o("div.moves",o("div.pair",r,o("span",n,"\u2192"),i(t.after,"after")),o("p.dim.small",t.note))}var $t=["before","after"];function St(t){let e=o("section.details",{"aria-label":"Details",tabindex:0}),i=()=>{let r=t.selected;e.replaceChildren(...r?ce(t,r):le(t)),e.scrollTop=0};return t.listen(r=>(r.has("row")||r.has("list")||r.has("data"))&&i()),i(),e}function le(t){let e=t.first.is_empty?"Both programs are the same.":"Choose a row or a box. \u2191 \u2193 walk the list.";return[o("h2","Nothing selected"),o("p.dim",e)]}function ce(t,e){let{first:i}=t,r=e.axes===void 0?null:i.axis_sets[e.axes],s=e.status==="same",[n,a]=e.sides;return[o("h2",{class:r?w(r.axes,i.axes):"ax-none"},R(e.glyph)," ",r?[e.kind," over ",T(r.words,r.axes,null,i.axes)]:o("bdi",e.name)),o("p",S(e.status),e.number>1?` \xD7 ${e.number}; the figures below are of all`:""),r?o("p.code",o("bdi",e.name)):null,e.reason.length?o("p.cause.because",o("b","Because "),M(e.reason,i.axes)):s?null:o("p.dim","Why it differs: no cause known."),he(e),...s?[o("h3","In both programs"),...Mt(t,a,"both")]:[n,a].flatMap((p,l)=>[o("h3.sidehead",$t[l],o("span",l?e.after:e.before)),...p?Mt(t,p,$t[l]):[o("p.dim",de[l])]]),e.by.length?o("p.dim.small",`Joined by ${e.by.join(", ")}.`):null].filter(p=>p!==null)}var de=["Not there: no evidence joins it to anything in the program before.","Not there: no evidence joins it to anything in the program after."];function he(t){if(!t.changes.length)return null;let e=t.changes.map(([i,r,s])=>[i,r,o("b",s)]);return et("table.changes",["of one","before","after"],e)}function Mt(t,e,i){let{axes:r}=t.first;return[...(e.causes??[]).map(s=>o("p.cause",M(s,r))),e.picture?kt(e.picture,r):null,e.shape?me(t,e,i):null,e.line?o("code.line",e.line):null,ft(e.figures),mt(e.facts,r),e.names?o("p.dim.small.code",e.names):null].filter(s=>s!==null)}function me(t,e,i){let r=t.data&&vt(t.data,e.sharding,e.shape);if(!r)return o("p.dim.small","No picture: how it is cut is unknown, or follows no mesh axes.");let s=`${i}: ${e.figures.map(n=>n.join(" ")).join(", ")}`;return o("div.picture",_(r,{axes:t.first.axes,width:200,label:s}))}var E=["collectives","kernels"],q=class{constructor(e){this.first=e,this.data=null,this.listeners=[],this.isNarrow=()=>!1,this.state={list:"collectives",onlyChanged:!0,status:null,axes:null,box:null,row:null,pane:"list"}}listen(e){this.listeners.push(e)}set(e){let i=this.state,r=new Set(Object.keys(e).filter(s=>i[s]!==e[s]));Object.assign(this.state,e),r.size&&this.listeners.forEach(s=>s(r))}open(e){this.data=e,this.listeners.forEach(i=>i(new Set(["data"]))),this.set({row:this.shown()[0]??null})}get rows(){return this.data?.header.lists[this.state.list]?.rows??[]}get selected(){return this.state.row===null?null:this.rows[this.state.row]??null}shown(){let{onlyChanged:e,status:i,axes:r,box:s,list:n}=this.state,a=[];for(let[p,l]of this.rows.entries())(i?l.status!==i:e&&l.status==="same")||n==="collectives"&&r!==null&&l.axes!==r||E.includes(n)&&s!==null&&!l.boxes.includes(s)||a.push(p);return a}filter(e){this.set(e),this.set({row:this.shown()[0]??null})}};var fe=["collectives","arguments","results","shardings","kernels"],V=150,ue=178,xe=["data","list","onlyChanged","status","axes","box"],ge="Rows with something in that box; their figures are of all that is alike, in other boxes too.";function Ct(t){let e=fe.filter(p=>Tt(t,p,P)>0||p==="collectives"),i=L("Lists",[...e.map(p=>[p,[p," ",At(be(t,p))]]),["around","source"]],()=>t.state.list,p=>t.filter({list:p,status:null,axes:null,...E.includes(p)?{}:{box:null}})),r=o("div.chips",{role:"group","aria-label":"Filters"}),s=o("div.heads.dim.small",{"aria-hidden":"true"}),n=o("div.rows"),a=new X(t,n);return t.listen(p=>{if(xe.some(l=>p.has(l))){i.update();let l=t.state.list!=="around";r.replaceChildren(...l?we(t):[]),s.hidden=r.hidden=!l,s.replaceChildren(...ve(t)),l?a.draw():n.replaceChildren(...je(t))}else p.has("row")&&a.mark()}),o("section.list",{"aria-label":"What changed"},i.bar,r,s,n)}function Tt(t,e,i){let r=t.first.counts[e]??{};return i.reduce((s,n)=>s+(r[n]??0),0)}var be=(t,e)=>Tt(t,e,P.filter(i=>i!=="same")),At=t=>o("span.count",b(t));function we(t){let{state:e}=t,i=(n,a,p)=>o("button.chip",{"aria-pressed":String(a),onclick:p},n),r=t.first.counts[e.list]??{},s=[i("only what changed",e.onlyChanged&&!e.status,()=>t.filter({onlyChanged:e.status?!0:!e.onlyChanged,status:null})),...P.filter(n=>r[n]).map(n=>i([S(n),At(r[n])],e.status===n,()=>t.filter({status:e.status===n?null:n})))];return e.axes!==null&&s.push(i(["over ",t.first.axis_sets[e.axes].words," \xD7"],!0,()=>t.filter({axes:null}))),e.box!==null&&s.push(i([J(t,e.box)," \xD7"],!0,()=>t.filter({box:null}))),s}function J(t,e){let i=t.data?.header.graph,r=i.boxes[e],s=i.columns[r.column];return`${i.rows[r.row].label}${s?`, ${s}`:""}`}function ve(t){let e=t.data?.header.lists[t.state.list];return e?["",`what, where; ${e.unit} ${e.what}`,"before","after","difference"].map(r=>o("span",{title:r},r)):[]}var X=class{constructor(e,i){this.store=e,this.box=i,this.shown=[],this.drawn=0,this.most=1,this.listbox=o("div",{role:"listbox",tabindex:0,"aria-label":"Rows, largest difference first",onkeydown:r=>this.key(r)})}draw(){this.shown=this.store.shown(),this.drawn=0,this.most=Math.max(1,...this.store.rows.map(i=>Math.abs(i.bytes))),this.listbox.replaceChildren();let e=this.shown.length?[this.listbox]:[o("p.nothing",this.nothing())];this.box.replaceChildren(...e,...this.below()),this.grow(V),this.box.scrollTop=0,this.mark()}nothing(){let{state:e,first:i,data:r}=this.store;if(!r)return"Reading the programs ...";if(e.box!==null||e.axes!==null||e.status)return"Nothing of that kind is here.";let s=i.counts[e.list]?.same??0;return s?`Nothing changed: ${b(s)} ${s===1?"is":"are"} the same in both programs.`:`Neither program has ${e.list}.`}below(){let e=this.store.data?.header.lists[this.store.state.list],[i,r]=e?.left_out??[0,0],s=this.store.state.onlyChanged?i:i+r,n=`${A(s,"more kind")} not on this page: d.${this.store.state.list} has all`;this.more=o("button.more",{onclick:()=>this.grow(V)},"Show more");let a=[s?n:"",this.store.state.box===null?"":ge,e?.note??""].filter(Boolean);return[this.more,...a.map(p=>o("p.nothing",p))]}grow(e){let i=this.shown.slice(this.drawn,this.drawn+e);this.listbox.append(...i.map(s=>this.row(s))),this.drawn+=i.length;let r=this.shown.length-this.drawn;this.more&&(this.more.hidden=!r,this.more.textContent=`Show ${b(Math.min(r,V))} of ${b(r)} more`)}row(e){let i=this.store.rows[e],{first:r}=this.store,s=i.axes===void 0?null:r.axis_sets[i.axes],n=s?w(s.axes,r.axes):"ax-none",a=Math.sqrt(Math.abs(i.bytes)/this.most),p=[i.kind,s&&T(s.words,s.axes,null,r.axes),...i.more].filter(Boolean);return o("div",{class:`row ${n}`,role:"option",id:`row-${e}`,"data-at":e,"aria-selected":"false",onclick:()=>this.store.set({row:e,...this.store.isNarrow()?{pane:"details"}:{}})},B(i.status),R(i.glyph),o("span.name",{title:i.name},o("bdi",i.name),i.number>1?o("span.dim",` \xD7 ${b(i.number)}`):null),o("span.sub",p.flatMap((l,c)=>c?[c===1&&s?" ":" \xB7 ",l]:[l])),o("span.cell.before",i.before),o("span.cell.after",i.after),o("span",{class:`cell difference ${I(i.bytes)}`},i.difference),a?o("span.bar",{style:{width:`${Math.round(ue*a)}px`}}):null)}mark(){let{row:e}=this.store.state;this.listbox.querySelector('[aria-selected="true"]')?.setAttribute("aria-selected","false");let i=e===null?null:this.listbox.querySelector(`[data-at="${e}"]`);i?.setAttribute("aria-selected","true"),i?this.listbox.setAttribute("aria-activedescendant",i.id):this.listbox.removeAttribute("aria-activedescendant")}key(e){let i=W(e,this.shown.indexOf(this.store.state.row??-1),this.shown.length);i!==null&&(e.preventDefault(),i>=this.drawn&&this.grow(i+1-this.drawn),this.store.set({row:this.shown[i]}),this.listbox.querySelector('[aria-selected="true"]')?.scrollIntoView({block:"nearest"}))}};function je(t){let e=t.data?.header.around;if(!e)return[];let i=e.settings.map(([a,p,l,c])=>o("li",o("b",`${a} `),o("code",p),`: ${l} \u2192 ${c}`)),r=e.source.map(([a,p,l])=>o("li",{class:`edit is-edit-${a}`},B(a),o("code.dim",p),o("code",l))),s=e.warnings.map(([a,p])=>o("li",B(a),` ${p}`)),n=(a,p,l)=>[o("h2.minor",a),p.length?o("ul.around",p):o("p.dim",l)];return[o("div.aroundbox",{tabindex:0,role:"region","aria-label":"Source and settings"},n("Source",r,"The lines of the user's functions are the same, or their text is not recorded."),n("Flags, versions, mesh, devices",i,"All are the same."),n("Warnings of XLA",s,"No warning came or went."))]}function Ot(t){let e=o("div.matrixbox",{tabindex:0,role:"region","aria-label":"Graph of both programs"});return t.listen(i=>{(i.has("data")||i.has("onlyChanged"))&&e.replaceChildren(...ye(t)),["data","box","row","list","onlyChanged"].some(r=>i.has(r))&&Ae(t,e)}),o("section.centre",{"aria-label":"Graph"},o("h2.minor","Both programs by scope and phase; equal layers together"),e,o("p.legend.dim.small",["less","more","removed","added"].map(i=>o("span",{class:`swatch fill-${i}`},S(i))),t.first.incomplete.length?" of bytes sent, in the part that is there; counts and sizes: before \u2192 after":" of bytes sent; counts and sizes: before \u2192 after; boxes are joined by scope and phase"))}function ye(t){let e=t.data?.header.graph;if(!e)return[];if(e.missing)return[o("p.nothing",e.missing)];let i=ke(e,t.state.onlyChanged),r=new Map,s=1;e.boxes.forEach((c,d)=>{r.set(`${c.row} ${c.column}`,d),s=Math.max(s,Math.abs(c.bytes[1]-c.bytes[0]))});let n=[...e.columns.keys()].filter(c=>[...i].some(d=>r.has(`${d} ${c}`))),a=n.map(c=>o("th",{scope:"col"},e.columns[c]||"program")),p=e.rows.flatMap((c,d)=>{if(!i.has(d))return[];let j=n.map(m=>{let h=r.get(`${d} ${m}`);return o("td",h===void 0?null:Me(t,h,s))});return[o("tr",{class:c.is_group?"group":void 0},$e(c),j)]}),l=e.rows.length-i.size;return[o("table.matrix",o("thead",o("tr",o("th",{scope:"col"},"scope"),a)),[o("tbody",p)]),...l?[o("p.nothing",`${b(l)} scopes are the same in both programs.`)]:[]]}function ke(t,e){let i=new Set;for(let n of t.boxes)(!e||n.status!=="same")&&i.add(n.row);let r=new Set,s=0;for(let n=t.rows.length-1;n>=0;n--){let a=t.rows[n],p=s>a.depth;!i.has(n)&&!p||(s=a.depth,(n||i.has(n))&&r.add(n))}return r}function $e(t){let[e,i]=t.counts,r=e===i?i>1?`\xD7 ${i}`:"":`\xD7 ${e} \u2192 ${i}`;return o("th",{scope:"row",style:{"--depth":Math.max(0,t.depth-1)}},t.status==="same"?null:B(t.status),o("b",o("bdi",t.label)),r?o("span.times",r):null,t.holds?o("span.dim.small.holds",t.holds):null)}function Me(t,e,i){let{first:r,data:s}=t,n=s?.header.graph.boxes[e],a=n.bytes[1]-n.bytes[0],p=n.status==="changed"?"same":n.status,l=Math.round(25+75*Math.sqrt(Math.abs(a)/i));return o("button",{class:`graphbox fill-${p}`,"data-box":e,"aria-pressed":"false",style:{"--strength":`${l}%`},title:"List what is in it",onclick:()=>Se(t,e)},o("span.offscreen",`${J(t,e)}: `),o("span.boxhead",o("span",`${Bt(n.kernels)} kernels`),o("b",{class:I(a)},Te(n,a))),n.lines.map(c=>{let d=r.axis_sets[c.axes];return o("span",{class:`moveline${c.status==="same"?" dim":""}`},o("span",`${Bt(c.counts)} ${c.kind} `,T(d.words,d.axes,null,r.axes)),o("span",c.sent))}),n.more?o("span.dim.small",`and ${A(n.more,"more kind")}`):null)}function Se(t,e){let i=t.state.box===e,r=Ce(t,t.data?.header.graph.boxes[e]);t.filter({list:r,box:i?null:e,status:null,axes:null}),!i&&!t.shown().length&&t.filter({status:"same"}),t.isNarrow()&&t.set({pane:"list"})}function Ce(t,e){return t.state.list==="kernels"||!e.lines.length?"kernels":"collectives"}function Te(t,e){let[i,r]=y[t.status];return e?`${t.status==="less"||t.status==="more"?i:r} ${t.difference}`:`${i} ${r}`}var Bt=([t,e])=>t===e?b(e):`${b(t)} \u2192 ${b(e)}`;function Ae(t,e){let i=new Set(E.includes(t.state.list)?t.selected?.boxes??[]:[]);e.querySelectorAll("[data-box]").forEach(r=>{let s=Number(r.dataset.box);r.setAttribute("aria-pressed",String(t.state.box===s)),r.classList.toggle("has-selected",i.has(s))})}function Et(t,e,i={}){let r=o("button.button",{...i,onclick:()=>Be(r,t,e())},t);return r}async function Be(t,e,i){if(!i)return;let r=await Oe(i)||Ee(i,t);t.textContent=r?"Copied":"Copying was refused",setTimeout(()=>t.textContent=e,1500)}async function Oe(t){let e=document.permissionsPolicy??document.featurePolicy;if(e&&!e.allowsFeature("clipboard-write"))return!1;try{return await navigator.clipboard.writeText(t),!0}catch{return!1}}function Ee(t,e){let i=o("textarea.offscreen",{"aria-hidden":"true"});i.value=t,e.after(i),i.select();try{return document.execCommand("copy")}catch{return!1}finally{i.remove(),e.focus()}}function Nt(t){let{first:e}=t,i=Et("Copy as text",()=>t.data?.header.text);return o("header.top",{tabindex:0},o("div.title",o("h1.what",M(e.title,e.axes)),i),e.incomplete.length?zt("Incomplete program ",e.incomplete,e.axes):null,e.parity.length?zt("Not the same work: ",e.parity,e.axes):null,o("p.answer",M(e.answer,e.axes)),o("ul.figures",{tabindex:0,"aria-label":"Figures of both programs"},e.figures.map(ze)),e.notes.length?o("p.dim.small",Dt(e.notes,e.axes)):null)}function Dt(t,e){return t.flatMap((i,r)=>[r?"; ":"",...M(i,e)])}function zt(t,e,i){return o("p.parity",{role:"note"},o("b",t),Dt(e,i))}function ze(t){let[e]=y[t.status],i=t.status==="less"||t.status==="more";return o("li",o("span.dim.small",t.label),o("span.both",t.before," \u2192 ",o("b",t.after)),o("span.small",o("span",{class:i?`is-${t.status}`:"dim"},`${i?`${e} `:""}${t.change}`),o("span.dim",` \xB7 ${t.how}`)))}function Lt(t){if(parent===window)return;let e=[[".rows",".totals"],[".matrixbox",".legend"]].map(([r,s])=>Ne(t.querySelector(r))+De(t.querySelector(s))),i=Math.ceil(Math.min(720,Math.max(400,...e)));parent.postMessage({pjitInspect:{height:i}},"*")}function Ne(t){if(!t)return 0;let e=t.getBoundingClientRect(),i=t.lastElementChild?.getBoundingClientRect().bottom??e.top;return Math.max(i+t.scrollTop,e.top+48)}function De(t){return t?t.getBoundingClientRect().height:0}var Le={list:"What changed, one a row",graph:"Both programs, scopes by phases",details:"What is selected, before and after",axes:"What is sent over each mesh axis"},Pe=760;function Ie(t,e){let i=new q(e),r=e.incomplete.length>0;r&&ut();let s=L("Panes",Object.entries(Le).map(([a,p])=>[a,a,p]),()=>i.state.pane,a=>i.set({pane:a}));s.bar.classList.add("panes");let n=o("div",{class:`frame compare${r?" of-parts":""}`,"data-pane":"list"},Nt(i),s.bar,Ct(i),Ot(i),St(i),xt(i));return i.isNarrow=()=>t.clientWidth<Pe,i.listen(a=>{a.has("pane")&&(n.dataset.pane=i.state.pane,s.update())}),t.classList.add("pjit-inspector"),t.replaceChildren(n),i}nt(`${ht}
${at}
${gt}`,(t,e)=>{let i=Ie(t,e);return r=>{i.open(r),requestAnimationFrame(()=>Lt(t))}});
