var Yt="PJITVIEW",Zt={i4:Int32Array,u1:Uint8Array,u4:Uint32Array,f8:Float64Array,s4:Uint32Array},J=class{constructor(e,i){this.bytes=e,this.ends=i,this.length=i.length,this.decoder=new TextDecoder}at(e){let i=e?this.ends[e-1]:0;return this.decoder.decode(this.bytes.subarray(i,this.ends[e]))}longest(){let e=0;for(let i=0,n=0;i<this.length;n=this.ends[i++])e=Math.max(e,this.ends[i]-n);return e}};function nt(t){let e=new TextDecoder;if(e.decode(new Uint8Array(t,0,8))!==Yt)throw new Error("this is no inspector data");let[i,n]=new Uint32Array(t,8,2);if(i!==1)throw new Error(`inspector data of version ${i}; this page reads version 1`);let o=JSON.parse(e.decode(new Uint8Array(t,16,n))),a=16+n,p=new Set,s=c=>c in o.columns,l=c=>{if(!s(c))return new Int32Array(0);let[u,h,m]=o.columns[c],x=new Zt[u](t,a+h,m);if(u!=="s4"||p.has(c))return x;p.add(c);for(let w=1;w<m;w++)x[w]+=x[w-1];return x};return{header:o,column:l,strings:c=>new J(l(c),l(`${c}.ends`)),has:s}}function ot(t){let e=atob(t.trim()),i=new Uint8Array(e.length);for(let n=0;n<e.length;n++)i[n]=e.charCodeAt(n);return i}async function at(t){let e=new Blob([t]).stream().pipeThrough(new DecompressionStream("deflate"));return await new Response(e).arrayBuffer()}var Qt="http://www.w3.org/2000/svg",st={ArrowDown:1,ArrowRight:1,ArrowUp:-1,ArrowLeft:-1};function pt(t,e,i){let n=i[0]&&Object.getPrototypeOf(i[0])===Object.prototype,[o,a]=n?[i[0],i.slice(1)]:[{},i];e.length&&t.setAttribute("class",e.join(" "));for(let[p,s]of Object.entries(o))if(!(s==null||s===!1))if(p.startsWith("on"))t.addEventListener(p.slice(2),s);else if(p==="style")for(let[l,d]of Object.entries(s))t.style.setProperty(l,String(d));else t.setAttribute(p,s===!0?"":String(s));return t.append(...X(a)),t}var X=t=>t.flat(1/0).filter(e=>e!=null&&e!==!1);function r(t,...e){let[i,...n]=t.split("."),o=document.createElement(i);return i==="button"&&o.setAttribute("type","button"),pt(o,n,e)}function b(t,...e){let[i,...n]=t.split(".");return pt(document.createElementNS(Qt,i),n,e)}var te=t=>t.map(([e,i])=>r("option",{value:e},i));function N(t,e,i,n,o={}){let a={"aria-label":t,title:t,onchange:()=>n(p.value),...o},p=r("select",a,te(e));return p.value=String(i),p}function R(t,e,i){return i?t.key in st?Math.max(0,Math.min(i-1,e+st[t.key])):t.key==="Home"?0:t.key==="End"?i-1:null:null}var ee=async t=>nt(await at(t)),lt=t=>ee(ot(document.getElementById(t)?.textContent??""));async function dt(t,e){if(typeof document>"u")return;let[i,n]=["pjit-inspector","pjit-first"].map(p=>document.getElementById(p));if(!i||!n)return;document.head.append(r("style",t));let o=new URLSearchParams(location.hash.slice(1)).get("theme");o&&(document.documentElement.dataset.theme=o);let a=e(i,JSON.parse(n.textContent??""),lt);try{a(await lt("pjit-blob")),performance.mark("pjit-ready"),i.setAttribute("data-ready","true")}catch(p){i.append(r("p.nothing",`The rest of this page could not be read: ${p}`))}}function ct(t,e,i=()=>{}){let n=t.attachShadow?t.attachShadow({mode:"open"}):t,o=r("div");n.append(r("style",e),o);let a=()=>{o.classList.toggle("light",document.body.dataset.jpThemeLight==="true"),o.classList.toggle("dark",document.body.dataset.jpThemeLight==="false")};a();let p=new MutationObserver(()=>(a(),i()));return p.observe(document.body,{attributes:!0,attributeFilter:["data-jp-theme-light","data-jp-theme-name"]}),{root:o,unwatch:()=>p.disconnect()}}function ut(t,e){for(let[i,n]of Object.entries(e))t.on(i,n);return()=>Object.entries(e).forEach(([i,n])=>t.off(i,n))}var ht=`.pjit-inspector,
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
`;var re=`
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
track #eef0f2 #262a30`,xt=re.trim().split(`
`).map(t=>t.split(" ")),$=t=>xt.map(e=>e[t]&&e[t]!=="-"?`--${e[0]}:${e[t]};`:"").join(""),Y=":root:not([data-theme=light])",[ne,mt]=["dark","light"].map(t=>`.pjit-inspector.pjit-inspector.${t}`),gt=`:root[data-theme=dark] .pjit-inspector,${ne}`,oe=`${Y},${Y} .pjit-inspector,:host .pjit-inspector`,ft="@media (prefers-contrast:more)",ae={ax:"c",mem:"m",scope:"m"},se=xt.map(([t])=>[t,ae[t.split("-")[0]]]).filter(([,t])=>t).map(([t,e])=>`.${t}{--${e}:var(--${t})}`),bt=`
${se.join("")}
:root,.pjit-inspector{${$(1)}color-scheme:light dark}
@media (prefers-color-scheme:dark){${oe}{${$(2)}}}
:root[data-theme=light],${mt}{${$(1)}color-scheme:light}
:root[data-theme=dark],${gt}{${$(2)}color-scheme:dark}
${ft}{:root,.pjit-inspector.pjit-inspector,${mt}{${$(3)}}${gt}{${$(4)}}}
${ft} and (prefers-color-scheme:dark){${Y} .pjit-inspector.pjit-inspector:not(.light),:host .pjit-inspector.pjit-inspector:not(.light){${$(4)}}}
@media (forced-colors:active){.pjit-inspector.pjit-inspector.pjit-inspector{${$(5)}}}
`;function S(t){return String(t).replace(/\B(?=(\d{3})+(?!\d))/g,",")}function L(t,e){return`${S(t)} ${e}${t===1?"":"s"}`}function y(t,e){if(!t||!t.length)return"ax-none";if(t.length>1)return"ax-many";let i=e.indexOf(t[0].split(":(")[0]);return i<0||i>3?"ax-many":`ax-${i}`}function yt(t,e){return t.map(i=>pe(i,e))}function pe(t,e){return typeof t=="string"?t:"strong"in t&&typeof t.strong=="string"?r("b",t.strong):"dim"in t?r("span.dim",t.dim):"name"in t?r("b.code",t.name):"code"in t?r("code",t.code):"axis"in t?le(t.axis,t.axes,t.size,e):"number"in t?de(t):""}function le(t,e,i,n){return r("span",{class:`axis ${y(e,n)}`},i===null?t:`${t} ${i}`)}function de(t){let e=t.unit?`${t.number}\xA0${t.unit}`:t.number,i=t.how==="counted"||!t.unit?void 0:t.how;return r(t.strong?"b":"span",{title:i},e)}var W=class{constructor(e,i){this.frame=e,this.say=i,this.list=null,this.key="",e.addEventListener("pointerdown",n=>{let o=n.composedPath()[0];this.list&&!this.list.contains(o)&&!this.button()?.contains(o)&&this.close(!1)})}button(){return[...this.frame.querySelectorAll("[data-key]")].find(e=>e.dataset.key===this.key)??null}open(e,i,n,o,a,p){let s=this.list&&this.key===e.dataset.key;if(this.close(!1),s)return;this.key=e.dataset.key??"";let l=Math.max(0,o),d=n.map((m,x)=>r("div",{role:"option",id:`pjit-option-${x}`,"aria-selected":String(x===o),"aria-disabled":m.allowed?null:"true",onclick:()=>u(x),onpointermove:()=>c(x)},r("span",{"aria-hidden":"true"},x===o?"\u2713":""),r("b",{class:m.axes?.length?`axis ${y(m.axes,a)}`:""},m.words),r("span.detail",m.detail))),c=m=>{d[l].classList.remove("at"),l=m,d[l].classList.add("at"),h.setAttribute("aria-activedescendant",d[l].id)},u=m=>{if(!n[m].allowed){this.say(`${n[m].words}: ${n[m].detail}`),d[m].classList.remove("refuses"),requestAnimationFrame(()=>d[m].classList.add("refuses"));return}this.close(!0),m!==o&&p(n[m])},h=r("div.chooser",{role:"listbox",tabindex:0,"aria-label":i,onkeydown:m=>{let x=R(m,l,n.length);if(x!==null)c(x);else if(m.key==="Enter"||m.key===" ")u(l);else if(m.key==="Escape"||m.key==="Tab")this.close(!0);else return;m.preventDefault(),m.stopPropagation()},onblur:()=>setTimeout(()=>this.list===h&&!this.holdsFocus()&&this.close(!1))},r("p.dim",{"aria-hidden":"true"},i),d);this.list=h,this.frame.append(h),e.setAttribute("aria-expanded","true"),this.place(e),c(l),h.focus({preventScroll:!0})}holdsFocus(){let e=this.frame.getRootNode();return this.list?.contains(e.activeElement)??!1}place(e){let{list:i,frame:n}=this;if(!i)return;let[o,a]=[e.getBoundingClientRect(),n.getBoundingClientRect()],p=Math.min(o.left-a.left,a.width-i.offsetWidth-6);i.style.left=`${Math.max(6,p)}px`,i.style.top=`${o.bottom-a.top+3}px`}close(e){let{list:i}=this;if(!i)return;this.list=null,i.remove();let n=this.button();n?.setAttribute("aria-expanded","false"),e&&n?.focus({preventScroll:!0})}};function wt(t,e,i={}){let n=r("button.button",{...i,onclick:()=>ce(n,t,e())},t);return n}async function ce(t,e,i){if(!i)return;let n=await ue(i)||he(i,t);t.textContent=n?"Copied":"Copying was refused",setTimeout(()=>t.textContent=e,1500)}async function ue(t){let e=document.permissionsPolicy??document.featurePolicy;if(e&&!e.allowsFeature("clipboard-write"))return!1;try{return await navigator.clipboard.writeText(t),!0}catch{return!1}}function he(t,e){let i=r("textarea.offscreen",{"aria-hidden":"true"});i.value=t,e.after(i),i.select();try{return document.execCommand("copy")}catch{return!1}finally{i.remove(),e.focus()}}function g(t,e){let i=t.getRootNode(),n=i.activeElement&&t.contains(i.activeElement)?i.activeElement:null,o=n?.dataset.key;if(t.replaceChildren(...X(e)),!n||i.activeElement===n)return;((o===void 0?null:[...t.querySelectorAll("[data-key]")].find(p=>p.dataset.key===o))??t.querySelector("[tabindex='0'], button, input, select"))?.focus({preventScroll:!0})}function f(t,e,i){let n="",o=()=>{let a=JSON.stringify(e());a!==n&&(n=a,i(o))};return t.listen(o),o(),o}function k(t,e){return typeof t=="string"?t:yt(t??[],e)}var[me,F]=[10,3];function I(t){return r("span",{class:t.changed?"line changed":"line"},t.changed?r("span.offscreen","changed: "):null,t.text||" ",t.changed?r("span.dim",t.was?`  # was ${t.was}`:"  # new"):null)}function ge(t){let e=[];for(let i=0;i<t.length;){let n=i;for(;n<t.length&&t[n].changed===t[i].changed;)n++;let o=t.slice(i,n);i=n,o[0].changed||o.length<me?e.push(o.map(I)):e.push(o.slice(0,F).map(I),fe(o.slice(F,-F)),o.slice(-F).map(I))}return e}function fe(t){let e=r("button.more",{onclick:()=>e.replaceWith(...t.map(I))},`${L(t.length,"line")} more`);return e}var xe={equal:"\u2713 ",different:"\u25B2 ",untried:""};function vt(t,e){let i=!1,n=r("span.plain"),o=r("span.right"),a=r("pre.lines",{tabindex:0,"aria-label":"Code to write"}),p=r("p.dim.small.proof");return f(t,()=>[t.data.code,t.isLive],()=>{let{code:s}=t.data;n.textContent=s.words;let l=wt("Copy",()=>s.text,{"data-key":"copy"});g(o,s.text?[l]:[]),g(a,ge(s.lines)),p.className=`dim small proof ${s.proof}`,g(p,[r("span",s.proof?{"data-key":"check",tabindex:-1}:{},xe[s.proof]??"",s.note),s.check&&t.isLive?be(t,s.check):null]),i&&s.proof&&e(s.note),i=s.check?.state==="running"}),r("section.part.codepart",r("h2.minor.headline","Code to write ",n,o),a,p)}function be(t,e){let i=e.state==="running";return r("button",{class:`button${i?" working":""}`,"data-key":"check","aria-disabled":i?"true":null,onclick:()=>i||t.send({type:"check"})},e.words)}var ye=16,[we,ve,ke,je]=[100,190,22,6.9],kt=new WeakMap,$e=330,jt=(t,e)=>e.length*Z(t)>$e;function Z(t){let e=kt.get(t.data);if(e!==void 0)return e;let{groups:i,results:n,constraints:o}=t.data,s=[...i,...n,...o].flatMap(d=>[...d.dims,...(d.members??[]).flatMap(c=>c.dims??[])]).map(d=>(d.axes??[]).join("\xB7").length+S(d.size).length).reduce((d,c)=>Math.max(d,c),0),l=Math.round(Math.min(ve,Math.max(we,ke+je*s)));return kt.set(t.data,l),l}function A(t,e,i){let n=t.spec(i.field,i.key,i.dims);return r("span",{class:`dims${i.isFree?" free":""}`},i.dims.map((o,a)=>Ce(t,e,i,a,{...o,axes:o.axes===null&&!t.isWaiting?null:n[a]})))}function Ce(t,e,i,n,o){let{axes:a}=t.data,p=o.axes===null?"?":o.axes.join("\xB7")||"\u2014",s=o.axes===null?i.isFree?"not known yet":"split as no axis is":o.axes.length?`over ${o.axes.join(", then ")}`:"on every device",l=[r("span.dimwords",r("span.dim",o.problem?r("span.mark","\u25B2"):null,S(o.size)),r("b",{class:o.axes?.length?`axis ${y(o.axes,a)}`:"dim"},p)),Me(o,a)],d=`${o.changed?", changed":""}${o.problem?", does not divide":""}`,c=`${i.name}, dimension ${n}, size ${o.size}: ${s}${i.isFree?", as XLA chooses":""}${d}`,u=`dimension${o.changed?" changed":""}${o.problem?" bad":""}`,h=o.axes?.length?`${S(o.size)} over ${o.axes.join(", then ")}`:null;if(!t.isLive)return r("span",{class:u,role:"img","aria-label":c,title:h},l);let m=`${i.field}:${i.id??i.key}:${n}`,x=v=>{let V=t.spec(i.field,i.key,i.dims).map((Jt,Xt)=>Xt===n?v.axes??[]:Jt);t.set({[i.field]:{[i.key]:V}})},w=r("button",{class:u,"data-key":m,"aria-haspopup":"listbox","aria-expanded":"false","aria-label":c,title:h,onclick:()=>e.open(w,`dimension ${n} of ${i.name}`,o.choices,o.choices.findIndex(v=>v.axes.join()===(o.axes??["?"]).join()),a,x)},l);return w}function Me(t,e){let i=t.axes?.length?Math.min(ye,Math.max(1,t.pieces)):0,n=Array.from({length:i},()=>r("i"));return r("span",{class:`ruler ${i?y(t.axes,e):"whole"}`,"aria-hidden":"true"},n)}function $t(t,e){let i=r("div.meshrow"),n=r("p.dim.small"),o=r("div.problem",{role:"alert",hidden:!0}),a=!1,p=()=>r("button.button",{"data-key":"add-axis",onclick:()=>{a=!0,l(),i.querySelector("[data-key='axis-name']")?.focus()}},"Add axis"),s=()=>{a=!1,l(),i.querySelector("[data-key='add-axis']")?.focus()},l=f(t,()=>[t.mesh,t.wish.target,t.data.target,t.data.mesh_problem,t.data.mesh,a,t.isLive],()=>{let{mesh:d,data:c}=t,u=d.map(([m,x],w)=>[w?r("span.times",{"aria-hidden":"true"},"\xD7"):null,Se(t,m,x)]),h=d.reduce((m,[,x])=>m*x,1);g(i,[u,r("span.product","= ",r("b",S(h)),h===1?" device":" devices"),Ae(t,e),t.isLive?a?Le(t,s):p():null]),n.textContent=c.target.facts,n.hidden=!c.target.facts,o.hidden=!c.mesh_problem,g(o,c.mesh_problem?Q(t,c.mesh_problem):[])});return r("section.part",r("h2.minor","Mesh and target"),i,n,o)}function Se(t,e,i){let{axes:n}=t.data,o=u=>{u>=1&&Number.isInteger(u)&&u!==a()&&t.set({mesh:t.mesh.map(([h,m])=>[h,h===e?u:m])})},a=()=>t.mesh.find(([u])=>u===e)?.[1]??i,p=()=>a()%2?a()-1:a()/2,s=t.data.mesh.find(u=>u.name===e)?.base??null,l=(u,h,m,x)=>r("button",{tabindex:-1,"data-key":`${u}:${e}`,"aria-label":h,onclick:x},m),d=r("input",{"data-key":`axis:${e}`,role:"spinbutton",inputmode:"numeric",value:String(i),"aria-label":`devices along ${e}`,"aria-valuenow":i,"aria-valuemin":1,disabled:!t.isLive,onfocus:()=>d.select(),onchange:()=>{/^\d+$/.test(d.value)&&o(Number(d.value)),d.value=String(a())},onkeydown:u=>{if(u.key==="ArrowUp")o(2*a());else if(u.key==="ArrowDown")o(p());else if(u.key==="Enter")d.dispatchEvent(new Event("change"));else return;u.preventDefault()}}),c=t.isLive&&t.mesh.length>1?r("button.drop",{"data-key":`drop:${e}`,title:`Drop the axis ${e}`,"aria-label":`Drop the axis ${e}`,onclick:()=>t.set({mesh:t.mesh.filter(([u])=>u!==e)})},"drop"):null;return r("span",{class:`axisbox ${y([e],n)}`},r("b.axis",e),r("span",{class:`stepper${s!==null&&s!==i?" changed":""}`},t.isLive?l("less",`Halve ${e}`,"\u2212",()=>o(p())):null,d,t.isLive?l("more",`Double ${e}`,"+",()=>o(2*a())):null),c)}function Le(t,e){let i=r("input.field",{"data-key":"axis-name",placeholder:"name","aria-label":"Name of the new axis","aria-describedby":"pjit-axis-wrong"}),n=r("span.wrong",{id:"pjit-axis-wrong",role:"alert"}),o=()=>{let a=i.value.trim(),p=t.mesh.some(([s])=>s===a)?`the mesh has an axis ${a} already`:/^[A-Za-z_]\w*$/.test(a)?"":"a name is letters, digits and _, and begins with no digit";return n.textContent=p?`\u25B2 ${p}`:"",p?i.setAttribute("aria-invalid","true"):(e(),t.set({mesh:[...t.mesh,[a,2]]}))};return i.addEventListener("keydown",a=>{if(a.key==="Enter")o();else if(a.key==="Escape")e();else return;a.preventDefault(),a.stopPropagation()}),r("span.adder",i,r("button.button",{onclick:o},"Add, size 2"),r("button.button",{onclick:e},"Cancel"),n)}function Ae(t,e){let{target:i}=t.data,n=t.wish.target??i.words;if(!t.isLive)return r("span.targetchip",n);let o=r("button.targetchip",{"data-key":"target","aria-haspopup":"listbox","aria-expanded":"false",onclick:()=>e.open(o,"the machine it is for",i.options,i.options.findIndex(a=>a.value===i.value),[],a=>t.set({target:a.value}))},n," \u25BE");return o}function Q(t,e){return[r("p",r("span.mark","\u25B2 "),k(e.words,t.data.axes)),e.remedies.length?r("div.chips",e.remedies.map(i=>t.isLive&&i.set?r("button.chip",{"data-key":`way:${i.words}`,onclick:()=>t.set(i.set)},i.words):r("span.chip",i.words))):null]}var T=60;function z(t,e,{opener:i=r("span"),name:n,control:o,held:a,below:p=null}){return r("div",{class:`group${e.changed?" changed":""}${jt(t,e.dims)?" wide":""}`,role:"listitem"},i,r("span.name",n),o,a,e.problem?r("div.problem",Q(t,e.problem)):null,p)}var D=(t,e,i,n)=>r("button.tie",{role:"switch","aria-checked":String(e),disabled:!t.isLive,...n},i),H=(t,e)=>r("button.back",e,t);function U(t){let e=r("button.more",{hidden:!0,onclick:()=>(i.shown+=4*T,t())}),i={button:e,shown:T,tell:n=>{e.hidden=n<=0,e.textContent=L(n,"more group")}};return i}function Ct(t,e){let i=r("div.groups",{role:"list"}),n=r("section.part",r("h2.minor","Constraints"),i);return f(t,()=>[t.data.constraints,t.data.axes,t.wish.constraints,t.isLive],()=>{n.hidden=!t.data.constraints.length,g(i,t.data.constraints.map(o=>Ee(t,e,o)))}),n}function Ee(t,e,i){let n=t.wish.constraints[i.key],o=n===void 0?i.on:n!==!1,a={"data-key":`constraint:${i.key}`,"aria-label":i.new?`new constraint ${i.name}`:`constraint ${i.name}`,onclick:()=>t.set({constraints:{[i.key]:!o}})};return z(t,i,{name:[k(i.words,t.data.axes),r("span.dim.small",i.place)],control:i.dims.length&&o?A(t,e,{key:i.key,name:i.name,dims:i.dims,field:"constraints"}):r("span.dims"),held:D(t,o,o?i.new?"take out":"on":"off",a)})}function Mt(t,e){let i=r("div.groups",{role:"list"}),n=U(()=>s()),o=r("span.plain","a chooser for each dimension"),a=r("input.field",{type:"search",placeholder:"filter","aria-label":"Show arguments whose name has these words",oninput:d=>{t.filter=d.target.value,n.shown=T,s()}}),p=()=>{let d=t.filter.toLowerCase().split(/\s+/).filter(Boolean);return t.data.groups.filter(c=>d.every(u=>c.search.toLowerCase().includes(u)))},s=f(t,()=>[[t.data.groups,t.data.axes,t.wish.specs,t.isWaiting,t.isLive,n.shown],[[...t.loose],t.showsFollowers,[...t.open],t.filter]],d=>{o.hidden=!t.isLive;let c=p(),u=c.filter(v=>!tt(t,v)),h=c.filter(v=>tt(t,v)),m=t.showsFollowers||t.filter!==""||h.length<3,x=v=>Math.max(0,v.length-n.shown),w=v=>v.slice(0,n.shown).map(V=>ze(t,e,V,d));g(i,[w(u),h.length>=3&&!t.filter?Te(t,m,d):null,m?w(h):null,c.length?null:r("p.nothing",t.filter?"No argument has these words.":"No arguments.")]),n.tell(x(u)+(m?x(h):0))});a.hidden=t.data.groups.length<8;let l=r("h2.minor.headline","Arguments ",o,r("span.plain.right","bytes per device"));return r("section.part",l,r("div.tools",a),i,n.button)}var tt=(t,e)=>e.follows&&!t.loose.has(e.key),St=(t,e)=>t.delete(e)||t.add(e);function Te(t,e,i){let n=()=>{t.showsFollowers=!t.showsFollowers,i()},o={"data-key":"followers","aria-expanded":String(e),onclick:n},a=[e?"\u25BE ":"\u25B8 ",t.data.followers];return r("div.group.followers",{role:"listitem"},r("button.opener.wide",o,a))}function ze(t,e,i,n){let o=t.open.has(i.key),a={"data-key":`open:${i.key}`,"aria-expanded":String(o),"aria-label":`${o?"Fold":"Show"} the ${i.members.length+i.more_members} arrays of ${i.name}`,onclick:()=>{St(t.open,i.key),n()}};return z(t,i,{opener:i.members.length>1?r("button.opener",a,o?"\u25BE":"\u25B8"):r("span"),name:[r("code",{title:i.title},i.name),i.sub?r("span.dim.small",i.sub):null],control:Oe(t,e,i,n),held:r("span.held",i.held,r("span.dim.small",i.copies)),below:o?Be(t,e,i):null})}function Oe(t,e,i,n){let o=tt(t,i),a=i.can_follow?D(t,o,o?`as ${i.can_follow}`:"on its own",{"data-key":`follow:${i.key}`,title:o?"Cut it loose: give it a spec of its own":"Let it follow again","aria-label":`${i.name} follows ${i.can_follow}`,onclick:()=>{St(t.loose,i.key),i.follows||t.send({type:"follow",key:i.asks}),n()}}):null;if(o)return r("span.dims",a);let p=i.dims.length?A(t,e,{id:i.key,key:i.asks,name:i.name,dims:i.dims,field:"specs"}):r("span.dims.dim.small",i.scalar);return a?r("span.stack",a,p):p}function Be(t,e,i){let n=i.more_members+Math.max(0,i.members.length-T);return r("div.members",{role:"list","aria-label":`Arrays of ${i.name}`},i.members.slice(0,T).map(o=>qe(t,e,i,o)),n?r("p.dim.small",L(n,"more array")):null)}function qe(t,e,i,n){let o=t.spec("specs",i.asks,i.dims),a=i.dims.map((c,u)=>({...c,axes:c.axes===null?null:o[u]})),p=H("back to the group",{"data-key":`back:${n.key}`,"aria-label":`${n.name}: as the group`,title:"Split it as the others of the group are",onclick:()=>t.set({specs:{[n.key]:o}})}),s=n.dims!==null&&!n.as,l=s&&t.isLive&&i.dims.every(c=>c.axes!==null),d=r("span.dim.small",n.as?`as ${n.as}`:s?"on its own":"",l?[" ",p]:null);return r("div",{class:`member${n.dims?" alone":""}`,role:"listitem"},r("span.name",r("code",n.name),d),i.dims.length?A(t,e,{key:n.key,name:n.name,dims:n.dims??a,field:"specs"}):null)}function K(t,e){if(!t)return r("span.bar",{"aria-hidden":"true"});let i=0,n=t.parts.map(([p,s,l])=>{let d=i;i+=p;let c=typeof s=="string"?s:y(s,e);return r("i",{class:`${c}${l?" hatched":""}`,style:{left:G(d),width:G(p)}})}),o=(p,s)=>p==null?null:r("i",{class:s,style:{left:G(p)}}),a=t.low?r("i.low",{style:{width:G(t.low)}}):null;return r("span.bar",{"aria-hidden":"true"},r("span.track",n),a,o(t.tick,"tick"),o(t.limit,"limit"))}var G=t=>`${Math.min(100,Math.max(0,100*t))}%`;var Pe=1500;function Lt(t){let e=r("h1.what"),i=r("p.answer"),n=r("div.buttons");return f(t,()=>[t.data.title,t.data.answer,t.data.can_inspect,t.opening,t.isLive],()=>{let{title:o,answer:a,axes:p,can_inspect:s}=t.data;g(e,[k(o,p)]),g(i,[k(a,p)]);let l=r("button.button",{"data-key":"inspect",disabled:!s,"aria-disabled":t.opening?"true":null,onclick:()=>t.openPage("inspect")},t.opening==="inspect"?"Opening the inspector \u2026":"Open inspector of this variant");g(n,t.isLive?[l]:[])}),r("div.top",r("div.title",e,n),i)}function At(t){let e=[0,1,2].map(()=>r("section.number")),i=r("div.numbers",{role:"group","aria-label":"Bytes, memory and time"},e);f(t,()=>[t.data.numbers,t.isWaiting],()=>{let{numbers:o,axes:a}=t.data;i.setAttribute("aria-busy",String(t.isWaiting||o.some(p=>p.dim))),e.forEach((p,s)=>{let l=o[s];p.classList.toggle("old",l.dim||t.isWaiting),g(p,[r("h2.minor",l.label),r("p.big",l.problem?r("span.mark","\u25B2 "):null,l.approximate?r("span.approximate",{title:"modelled, not counted"},"\u2248 "):null,l.value,l.unit?r("small",` ${l.unit}`):null,l.more?r("small",` ${l.more}`):null,l.change?[" ",r("span.change",l.change)]:null),K(l.bar,a),r("p.known",k(l.how,a))])})});let n=()=>i.parentElement?.style.setProperty("--strip",`${i.offsetHeight}px`);return new ResizeObserver(n).observe(i),i}function Et(t){let e=r("ol.steps"),i=r("span"),n=r("label.against");return f(t,()=>[t.data.stages,t.isWaiting],()=>g(e,t.data.stages.map(o=>r("li",{class:t.isWaiting?"todo":o.state,"aria-current":o.state==="now"?"step":null},o.words)))),f(t,()=>[t.data.full,t.isLive],()=>g(i,t.isLive?[_e(t)]:[])),f(t,()=>[t.data.bases,t.data.base],()=>{let{bases:o,base:a}=t.data,p={"data-key":"base","aria-label":null,title:null,disabled:!t.isLive},s=N("",o,a,l=>t.send({type:"base",number:Number(l)}),p);g(n,["against ",s])}),r("div.rail",e,i,Ne(t),n)}function Ne(t){let e=r("span.dim.slow",{role:"status"}),i=0;return t.listen(()=>{t.isWaiting&&!i&&(i=setTimeout(()=>e.textContent="the kernel is busy; this is asked when it is free",Pe)),!t.isWaiting&&(clearTimeout(i),i=0,e.textContent="")}),e}function _e(t){let{state:e,words:i}=t.data.full,n={running:"stop",possible:"full"}[e];return n?r("button.button",{"data-key":"full",onclick:()=>t.send({type:n})},i):i?r("span.dim",i):null}function Tt(t,e,i){let n=[...t],o=n.indexOf(e.target),a=e.key==="Enter"||e.key===" "?o:R(e,o,n.length);o<0||a===null||(e.preventDefault(),e.stopPropagation(),n[a].focus(),i(n[a]))}var zt=40,Re=[["number","#"],["change","change"],["mesh","mesh"],["sent","sends"],["memory","memory"],["time","time"],["fits","fits"]],We=["sent","memory","time"];function Ot(t){let e=r("span.plain"),i=r("tr"),n=r("tbody",{onkeydown:d=>He(t,n,d)}),o=r("p.dim.small"),a=r("p.problem.lacks",{role:"status",hidden:!0}),p=r("button.more",{hidden:!0}),s=zt,l=f(t,()=>[t.data.history,t.data.number,t.data.base,t.sort,s,t.isLive,t.lacking],d=>{let{history:c}=t.data;e.textContent=c.words,o.textContent=c.how,a.hidden=t.lacking===null,a.textContent=t.lacking===null?"":`Variant ${t.lacking}: ${t.lost||c.lacks}`,g(i,Re.filter(([h])=>c.columns.includes(h)).map(([h,m])=>r("th",{scope:"col",class:`is-${h}`,"aria-sort":Fe(t,h)},Ie(t,h,c.titles[h]??m,d))));let u=et(t);g(n,u.slice(0,s).map(h=>De(t,h))),p.hidden=u.length<=s,p.textContent=`${u.length-s} more variants`});return p.addEventListener("click",()=>{s+=10*zt,l()}),r("section.part",r("h2.minor","Variants tried ",e),r("table.history",{role:"grid","aria-label":"Variants tried"},r("thead",i),n),p,a,o)}function Fe(t,e){return t.sort.key!==e?null:t.sort.reversed?"descending":"ascending"}function Ie(t,e,i,n){let o=t.sort.key===e?t.sort.reversed?" \u2193":" \u2191":"";return r("button.sorter",{"data-key":`sort:${e}`,onclick:()=>{t.sort={key:e,reversed:t.sort.key===e&&!t.sort.reversed},n()}},i,o)}function et(t){let{key:e,reversed:i}=t.sort,n=i?-1:1,o=a=>e==="number"?a.number:a.order[e];return[...t.data.history.rows].sort((a,p)=>{let[s,l]=[o(a),o(p)];return s===null||l===null?+(s===null)-+(l===null)||a.number-p.number:n*(s<l?-1:s>l?1:0)||a.number-p.number})}function De(t,e){let i=e.number===t.data.number,n=e.kept===!1,o=s=>t.send({type:"rename",number:e.number,name:s.target.value}),a=i&&t.isLive?r("input.field.naming",{"data-key":`name:${e.number}`,value:e.name,placeholder:"name it","aria-label":`Name of variant ${e.number}`,onchange:o,onclick:s=>s.stopPropagation(),onkeydown:s=>{s.stopPropagation(),s.key==="Enter"&&o(s)}}):e.name?r("b",`${e.name} `):null,p=e.number===t.data.base;return r("tr",{"data-number":e.number,"data-key":`row:${e.number}`,class:n?"unkept":null,title:n?"this page has its figures only":null,"aria-disabled":n?"true":null,tabindex:i?0:-1,"aria-selected":String(i),onclick:()=>t.goBack(e.number)},r("td.dim",e.number),r("td.is-change",{title:e.change},r("span.two-lines",a,e.change,p?r("span.dim"," (base)"):null)),r("td.is-mesh",e.mesh),We.filter(s=>t.data.history.columns.includes(s)).map(s=>r("td",{class:`is-${s}${e.known[s]?"":" dim"}`},e[s])),r("td.is-fits",{title:e.why},e.problem?r("span.mark","\u25B2 "):null,e.fits))}function He(t,e,i){let n=i.composedPath()[0];if(i.key!=="b"||n.tagName!=="TR")return Tt(e.querySelectorAll("tr"),i,o=>t.goBack(Number(o.dataset.number)));t.send({type:"base",number:Number(n.dataset.number)}),i.preventDefault(),i.stopPropagation()}var Bt={"all-reduce":"M9.5 2.5H3l3.2 3.7L3 10h6.5","all-gather":"M1.8 1.8h8.4v8.4H1.8zM6 1.8v8.4M1.8 6h8.4","reduce-scatter":"M6 1.5v4M6 5.5L2 10M6 5.5l4 4.5M6 5.5V10","all-to-all":"M1.5 3h2.2l4.6 6h2.2M1.5 9h2.2l4.6-6h2.2M9 1.5L10.5 3 9 4.5M9 7.5L10.5 9 9 10.5","ragged-all-to-all":"M1.5 3h2.2l4.6 6h2.2M1.5 9h2.2l4.6-6h2.2","collective-permute":"M1.5 4h8M7.5 2l2 2-2 2M10.5 8h-8M4.5 6l-2 2 2 2","collective-broadcast":"M2 6h3M5 6l4-4M5 6h4.5M5 6l4 4",kernel:"M2 3h8v6H2z",array:"M2 2.5h8M2 6h8M2 9.5h8M2 2.5v7M10 2.5v7",line:"M2 3h8M2 6h5M2 9h7"};function it(t,e=""){let i=Bt[t]??Bt.kernel;return b("svg",{class:`glyph ${e}`,viewBox:"0 0 12 12",width:13,height:13,"aria-hidden":"true"},b("path",{d:i}))}function qt(t){return Nt(t,{title:"Sends, by mesh axis",shown:()=>t.data.by_axis,name:e=>r("b",{class:`axis ${y(e.axes,t.data.axes)}`},e.words),first:"axis"})}function Pt(t){return Nt(t,{title:"Collectives by kind",shown:()=>t.data.by_kind,name:e=>[it(e.kind)," ",e.kind],first:"kind"})}function Nt(t,e){let i=r("span.plain"),n=r("thead"),o=r("tbody"),a=r("p.dim"),p=r("section.part",r("h2.minor",e.title," ",i),r("table.figures",n,o),a);return f(t,()=>[e.shown(),t.data.axes,t.isWaiting],()=>{let{rows:s,how:l,columns:d,missing:c}=e.shown();p.classList.toggle("old",t.isWaiting||!!e.shown().dim),i.textContent=l,a.textContent=c;let u=[e.first,"",...d];g(n,[r("tr",s.length?u.map(h=>h?r("th",{scope:"col"},h):r("td")):[])]),g(o,s.map(h=>r("tr",r("th",{scope:"row"},e.name(h)),r("td.barcell",K(h.bar,t.data.axes)),h.cells.map(m=>r("td",m)))))}),p}function _t(t){let e=r("span"),i=r("span.plain"),n=r("span.right"),o=r("ul.moves");return f(t,()=>[t.data.moves,t.isWaiting,t.opening,t.isLive],()=>{let{moves:a,axes:p}=t.data;o.classList.toggle("old",t.isWaiting||!!a.dim),e.textContent=a.title,i.textContent=a.how;let s=r("button.button",{"data-key":"compare",disabled:!!a.dim,"aria-disabled":t.opening?"true":null,onclick:()=>t.openPage("compare")},t.opening==="compare"?"Comparing \u2026":"Compare in full");g(n,a.can_compare&&t.isLive?[s]:[]),g(o,[a.rows.map(l=>Ue(l,p)),a.rest?r("li.move.rest",r("span"),r("span.dim",a.rest[0]),r("span.amount",a.rest[1])):null,a.missing?r("li.dim",a.missing):null])}),r("section.part",r("h2.minor.headline",e," ",i,n),o)}function Ue(t,e){return r("li.move",r("span",{class:y(t.axes,e)},it(t.kind)),r("span.movename",t.status?r("b",`${t.status} `):null,k(t.what,e)),r("span.amount",t.amount),r("span.cause.small.dim",{title:t.whole},t.kind," ",r("b",{class:`axis ${y(t.axes,e)}`},t.axes_words),t.place?` \xB7 ${t.place}`:"",t.cause?.length?[" \u2014 ",k(t.cause,e)]:null),r("span.amount.small.dim",t.counts))}function Rt(t,e){let i=r("div.chips",{role:"group","aria-label":"Presets"}),n=r("p.dim.small.whynot",{hidden:!0}),o=s=>{n.hidden=!s,n.textContent=s,s&&e(s)},a=s=>{o(s.allowed?"":`${s.words}: ${s.title}`),s.allowed&&s.preset!==null?t.preset(s.preset):s.allowed&&t.goBack(s.number)},p=r("section.part.presets",{hidden:!t.isLive},r("h2.minor","Presets ",r("span.plain","set arguments, constraints and results")),i,n);return f(t,()=>[t.data.presets,t.isLive],()=>{p.hidden=!t.isLive,o(""),g(i,t.data.presets.map(s=>r("button.chip",{"data-key":`preset:${s.words}`,"aria-pressed":String(s.is_now),"aria-disabled":s.allowed?null:"true","aria-description":s.title,title:s.title,onclick:()=>a(s)},s.words)))}),p}var Wt=6;function Ft(t,e){let i=r("div.groups",{role:"list"}),n=r("span.plain"),o=U(()=>l()),a=r("summary",{"data-key":"results"},r("h2.minor","Results ",n)),p=r("details.part",a,i,o.button),s=!0,l=f(t,()=>[t.data.results,t.data.axes,t.wish.results,t.isWaiting,o.shown,t.isLive],()=>{let{results:d,results_words:c}=t.data;p.hidden=!d.length;let u=d.filter(h=>h.changed||h.problem).length;(u&&u<=Wt||s&&d.length<=Wt)&&(p.open=!0),s=!1,n.textContent=c,g(i,d.slice(0,o.shown).map(h=>Ge(t,e,h))),o.tell(d.length-o.shown)});return p}function Ge(t,e,i){let n=t.wish.results[i.key],o=n===void 0?i.free:n===null,a=H("let XLA choose",{"data-key":`free:${i.key}`,"aria-label":`${i.name}: as XLA chooses`,title:"Take the spec away: XLA chooses again",onclick:()=>t.set({results:{[i.key]:null}})}),p=[i.sub,o?", as XLA chooses":", set",o||!t.isLive?null:[" ",a]];return z(t,i,{name:[r("code",{title:i.title},i.name),r("span.dim.small",p)],control:i.dims.length?A(t,e,{key:i.key,name:i.name,dims:i.dims,field:"results",isFree:o}):r("span.dims.dim.small",i.scalar),held:r("span.held",i.held)})}var[C,M,E,O,It,B]=[480,300,46,16,22,36],Ke=[15,20,26].flatMap(t=>[-40,40,-140,140,-90,90].map(e=>[t,e*Math.PI/180])),q=t=>E+t*(C-E-O),j=t=>M-B-t*(M-It-B);function Dt(t){let e=r("div"),i=r("p.dim.small"),n=r("span"),o=r("section.part",r("h2.minor",n," ",r("span.plain","lower left is better")),e,i);return f(t,()=>[t.data.scatter,t.data.number,t.isLive],()=>{let{scatter:a}=t.data;n.textContent=a.title,i.textContent=a.legend,g(e,a.points.length?[Ve(t,a)]:[r("p.nothing",a.missing)])}),o}function Ve(t,e){let i=b("svg.scatter",{viewBox:`0 0 ${C} ${M}`,role:"img","aria-label":e.words},Je(e),e.front.length>1?b("path.front",{d:Xe(e.front)}):null),n=e.points.map(a=>[q(a.x),j(a.y)]),o=[];return e.points.forEach((a,p)=>{let s=a.number===t.data.number,[l,d]=n[p],c=Ze(n,o,l,d,String(a.number).length,s?8:0,a.least);i.append(b("g",{class:`point is-${a.kind}${a.front?" best":""}`,"data-number":a.number,onclick:()=>t.goBack(a.number)},b("title",a.words),b("circle",{cx:l,cy:d,r:12,class:"reach"}),s?b("circle",{cx:l,cy:d,r:9,class:"now"}):null,Ye(a,l,d),c?b("text",{x:c[0],y:c[1]+3.8,"text-anchor":"middle",class:s?"isnow":null},a.number):null))}),i}function Je(t){let e=[];for(let[i,n]of t.y_ticks)e.push(b("line.rule",{x1:E,x2:C-O,y1:j(i),y2:j(i)}),b("text.faint",{x:E-6,y:j(i)+3.5,"text-anchor":"end"},n));for(let[i,n]of t.x_ticks)e.push(b("line.rule",{x1:q(i),x2:q(i),y1:M-B,y2:M-B+4}),b("text.faint",{x:q(i),y:M-B+15,"text-anchor":"middle"},n));if(e.push(b("text.faint",{x:E,y:11},t.y_label),b("text.faint",{x:C-O,y:M-5,"text-anchor":"end"},t.x_label)),t.limit){let[i,n]=t.limit;i===null?e.push(b("text",{x:C-O,y:11,"text-anchor":"end"},n)):e.push(b("line.chip",{x1:E,x2:C-O,y1:j(i),y2:j(i)}),b("text",{x:C-O,y:j(i)-4,"text-anchor":"end"},n))}return e}function Xe(t){return t.map(([e,i],n)=>n?`H${q(e)}V${j(i)}`:`M${q(e)} ${j(i)}`).join("")}function Ye(t,e,i){return t.kind==="base"?b("rect.sign",{x:e-4.5,y:i-4.5,width:9,height:9}):t.kind==="misfit"?b("path.sign",{d:`M${e} ${i-5.5}l5.2 9.4h-10.4z`}):[t.least?b("path.least",{d:`M${e} ${i-6}v-12m-3.5 4l3.5-4 3.5 4`}):null,b("circle.sign",{cx:e,cy:i,r:4.5})]}function Ze(t,e,i,n,o,a,p){let s=3.4*o+2,l=(d,c)=>d-s>E&&d+s<C-2&&c>It-4&&c<M-B-4&&!e.some(([u,h,m])=>Math.abs(d-u)<s+m&&Math.abs(c-h)<12)&&!t.some(([u,h])=>Math.abs(d-u)<s+5&&Math.abs(c-h)<10);for(let[d,c]of Ke){let[u,h]=[i+(d+a)*Math.cos(c),n+(d+a)*Math.sin(c)];if(!(!l(u,h)||p&&h<n-6&&Math.abs(u-i)<s+5))return e.push([u,h,s]),[u,h]}return null}function Ht(t){let e=r("div.search",{role:"group","aria-label":"Search"}),[i,n]=["bytes",30],o=!1,a=f(t,()=>[t.data.search,t.isLive,o],()=>{let{search:p}=t.data;if(p?.state!=="running"&&(o=!1),!t.isLive||!p)return g(e,p?.words?[r("span.dim",p.words)]:[]);if(p.state==="running")return g(e,[r("progress",{max:1,value:p.share,"aria-label":"Search"}),r("span.gauged",p.words),r("button.button",{"data-key":"search","aria-disabled":o?"true":null,onclick:()=>{o||(o=!0,t.send({type:"stop_search"}),a())}},o?"Stopping":"Stop")]);let s=["bytes","memory","time"].map(m=>[m,m]),l=N("What the search makes less",s,i,m=>i=m,{"data-key":"goal"}),d=[10,30,60,120].map(m=>[m,`${m} s`]),u=N("How long it searches",d,n,m=>n=Number(m),{"data-key":"budget"}),h=r("button.button",{"data-key":"search",onclick:()=>t.send({type:"search",goal:i,budget_s:n})},"Search");return g(e,[h," for less ",l," in ",u,p.words?r("span.dim",p.words):null])});return e}var Qe=[[["\u2191","\u2193"],"on a size: double, halve"],[["Enter"],"on a dimension: choose"],[["[","]"],"variants"],[["b"],"base"],[["f"],"full"],[["c"],"copy code"]];function rt(t,e){let i=r("p.offscreen",{"aria-live":"polite"}),n=u=>{i.textContent=u},o=r("div.frame.playground",{role:"region","aria-label":"Playground"}),a=new W(o,n),p=r("p.gone",{role:"status"}),s=r("p.problem.noted",{role:"alert",hidden:!0}),l=r("section.opened",{hidden:!0}),d=ii();o.append(p,Lt(e),l,s,At(e),Et(e),r("div.body",r("div.controls",$t(e,a),Rt(e,n),Mt(e,a),Ct(e,a),Ft(e,a)),r("div.answers",r("div.two",qt(e),Pt(e)),_t(e))),r("div.tried",r("div.triedlist",Ot(e),Ht(e)),Dt(e)),vt(e,n),d,i),o.addEventListener("keydown",u=>ri(e,o,u));let c=()=>{p.textContent!==e.whyStill&&(p.textContent=e.whyStill),p.hidden=e.isLive,d.hidden=!e.isLive,o.style.setProperty("--dimension",`${Z(e)}px`),s.hidden=!e.data.note,s.textContent=e.data.note?`\u25B2 ${e.data.note}`:"",e.data.said&&e.data.said!==i.dataset.said&&n(i.dataset.said=e.data.said)};return e.listen(c),c(),t.classList.add("pjit-inspector","play"),t.replaceChildren(o),{open:(u,h)=>{let m=e.opening??"inspect";e.opening=null,e.tell("opening"),h?ei(l,u,h,()=>ti(o,m)):n(`${u}: it could not be made`)}}}function ti(t,e){t.querySelector(`[data-key="${e}"]`)?.focus()}function ei(t,e,i,n){let o=r("button.button",{onclick:()=>{t.hidden=!0,t.replaceChildren(),n()}},"Close");t.replaceChildren(r("div.title",r("b",e),o),r("iframe",{sandbox:"allow-scripts allow-downloads",srcdoc:i,title:e})),t.hidden=!1,o.focus()}function ii(){return r("div.foot.dim.small",Qe.map(([t,e])=>r("span",t.map(i=>[r("kbd",i)," "]),e)))}function ri(t,e,i){let n=i.composedPath()[0];if(i.ctrlKey||i.metaKey||i.altKey||/^(INPUT|SELECT|TEXTAREA)$/.test(n.tagName))return;let o=et(t).filter(l=>l.kept!==!1),a=o.findIndex(l=>l.number===t.data.number),p=i.key==="["?o[a-1]:i.key==="]"?o[a+1]:null,s=l=>e.querySelector(`[data-key="${l}"]`)?.click();if(p)t.goBack(p.number);else if(i.key==="b")t.send({type:"base",number:t.data.number});else if(i.key==="f")s("full");else if(i.key==="c")s("copy");else return;i.preventDefault(),i.stopPropagation()}var Ut=`.pjit-inspector.play {
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
  list-style: none;
  display: flex;
  flex-wrap: wrap;
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
}
.playground .history th {
  text-align: right;
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
  text-align: left;
  grid-column: 1 / -1;
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
`;var oi="The kernel that answers is gone: it was restarted or shut down. This is the last state; run the cell again to go on.",P=()=>({seq:0,mesh:null,target:null,specs:{},results:{},constraints:{}}),_=class{constructor(e,i){this.data=e,this.ask=i,this.seq=0,this.wish=P(),this.held=null,this.lost="",this.opening=null,this.open=new Set,this.loose=new Set,this.showsFollowers=!1,this.filter="",this.lacking=null,this.sort={key:"number",reversed:!1},this.listeners=[]}get isLive(){return this.ask!==null&&!this.lost&&!this.data.closed}get whyStill(){return this.isLive?"":this.lost||this.data.closed||this.data.still_words}get isWaiting(){return this.wish.seq>0}listen(e){this.listeners.push(e)}tell(e){this.listeners.forEach(i=>i(e))}take(e){if(!(e.version<this.data.version)){if(this.data=e,this.held&&this.seq-e.heard<4){let i=this.held;this.held=null,this.send({type:"set",...i}),this.wish={...this.wish,seq:this.seq}}e.heard>=this.wish.seq&&(this.wish=P()),this.tell("data")}}lose(){this.lost=oi,this.wish=P(),this.held=this.opening=null,this.tell("data")}send(e){if(!(!this.ask||this.lost)){this.seq+=1;try{this.ask({...e,seq:this.seq})}catch{this.lose()}}}openPage(e){this.opening||(this.opening=e,this.send({type:e}),this.tell("opening"))}get mesh(){return this.wish.mesh??this.data.mesh.map(e=>[e.name,e.size])}set(e){if(!this.isLive)return;let i=this.held!==null||this.seq-this.data.heard>=4;i?this.held=Gt(this.held??{},e):this.send({type:"set",...e}),!this.lost&&(this.wish={...P(),...Gt(this.wish,e),seq:i?1/0:this.seq},this.tell("wish"))}preset(e){this.held=null,this.send({type:"preset",preset:e}),!this.lost&&(this.wish={...P(),seq:this.seq},this.tell("wish"))}spec(e,i,n){let o=this.wish[e][i];return Array.isArray(o)?o:n.map(a=>a.axes??[])}goBack(e){this.wish=P(),this.held=null,this.send({type:"go_back",number:e}),this.lost&&(this.lacking=e,this.tell("data"))}};function Gt(t,e){return{...t,...e,specs:{...t.specs,...e.specs},results:{...t.results,...e.results},constraints:{...t.constraints,...e.constraints}}}var Vt=`${bt}
${ht}
${Ut}`,Kt="$";function ai({pool:t,values:e}){let i=[],n=o=>{if(Array.isArray(o))return o.map(n);if(o===null||typeof o!="object")return o;let a=Object.keys(o);return a.length===1&&a[0]===Kt?i[o[Kt]]:Object.fromEntries(a.map(p=>[p,n(o[p])]))};return t.forEach(o=>i.push(n(o))),e.map(n)}function si(t,e){t.goBack=i=>{let n=e.find(o=>o.number===i);t.lacking=n?null:i,n?t.take({...t.data,...n}):t.tell("data")}}function pi({model:t,el:e}){let{root:i,unwatch:n}=ct(e,Vt),o=()=>({...JSON.parse(t.get("_state")),history:JSON.parse(t.get("_history"))}),a=new _(o(),d=>t.send(d)),p=rt(i,a),s=()=>a.take(o());e.setAttribute("data-pjit-play",t.get("_key"));let l=ut(t,{"change:_state":s,"change:_history":s,"msg:custom":d=>d?.type==="page"&&p.open(d.title,d.page),comm_live_update:()=>a.send({type:"drawn"})});return i.setAttribute("data-ready","true"),t.send({type:"drawn",seq:0}),()=>{n(),l()}}dt(Vt,(t,e)=>{t.classList.remove("page");let i=new _(e,null);return rt(t,i),n=>si(i,ai(n.header.variants))});var ln={render:pi};export{ln as default};
