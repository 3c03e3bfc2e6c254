var oe="PJITVIEW",ae={i4:Int32Array,u1:Uint8Array,u4:Uint32Array,f8:Float64Array,s4:Uint32Array},O=class{constructor(e,i){this.bytes=e,this.ends=i,this.length=i.length,this.decoder=new TextDecoder}at(e){let i=e?this.ends[e-1]:0;return this.decoder.decode(this.bytes.subarray(i,this.ends[e]))}longest(){let e=0;for(let i=0,s=0;i<this.length;s=this.ends[i++])e=Math.max(e,this.ends[i]-s);return e}};function I(t){let e=new TextDecoder;if(e.decode(new Uint8Array(t,0,8))!==oe)throw new Error("this is no inspector data");let[i,s]=new Uint32Array(t,8,2);if(i!==1)throw new Error(`inspector data of version ${i}; this page reads version 1`);let n=JSON.parse(e.decode(new Uint8Array(t,16,s))),r=16+s,a=new Set,p=m=>m in n.columns,l=m=>{if(!p(m))return new Int32Array(0);let[c,d,u]=n.columns[m],x=new ae[c](t,r+d,u);if(c!=="s4"||a.has(m))return x;a.add(m);for(let g=1;g<u;g++)x[g]+=x[g-1];return x};return{header:n,column:l,strings:m=>new O(l(m),l(`${m}.ends`)),has:p}}function L(t){let e=atob(t.trim()),i=new Uint8Array(e.length);for(let s=0;s<e.length;s++)i[s]=e.charCodeAt(s);return i}async function R(t){let e=new Blob([t]).stream().pipeThrough(new DecompressionStream("deflate"));return await new Response(e).arrayBuffer()}var pe="http://www.w3.org/2000/svg";function H(t,e,i){let s=i[0]&&Object.getPrototypeOf(i[0])===Object.prototype,[n,r]=s?[i[0],i.slice(1)]:[{},i];e.length&&t.setAttribute("class",e.join(" "));for(let[a,p]of Object.entries(n))if(!(p==null||p===!1))if(a.startsWith("on"))t.addEventListener(a.slice(2),p);else if(a==="style")for(let[l,h]of Object.entries(p))t.style.setProperty(l,String(h));else t.setAttribute(a,p===!0?"":String(p));return t.append(...le(r)),t}var le=t=>t.flat(1/0).filter(e=>e!=null&&e!==!1);function o(t,...e){let[i,...s]=t.split("."),n=document.createElement(i);return i==="button"&&n.setAttribute("type","button"),H(n,s,e)}function b(t,...e){let[i,...s]=t.split(".");return H(document.createElementNS(pe,i),s,e)}function q(t){let e=!1;return()=>{e||(e=!0,requestAnimationFrame(()=>{e=!1,t()}))}}var N=`.pjit-inspector,
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
`;var de=`
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
track #eef0f2 #262a30`,W=de.trim().split(`
`).map(t=>t.split(" ")),v=t=>W.map(e=>e[t]&&e[t]!=="-"?`--${e[0]}:${e[t]};`:"").join(""),B=":root:not([data-theme=light])",[he,U]=["dark","light"].map(t=>`.pjit-inspector.pjit-inspector.${t}`),D=`:root[data-theme=dark] .pjit-inspector,${he}`,fe=`${B},${B} .pjit-inspector,:host .pjit-inspector`,F="@media (prefers-contrast:more)",xe={ax:"c",mem:"m",scope:"m"},me=W.map(([t])=>[t,xe[t.split("-")[0]]]).filter(([,t])=>t).map(([t,e])=>`.${t}{--${e}:var(--${t})}`),G=`
${me.join("")}
:root,.pjit-inspector{${v(1)}color-scheme:light dark}
@media (prefers-color-scheme:dark){${fe}{${v(2)}}}
:root[data-theme=light],${U}{${v(1)}color-scheme:light}
:root[data-theme=dark],${D}{${v(2)}color-scheme:dark}
${F}{:root,.pjit-inspector.pjit-inspector,${U}{${v(3)}}${D}{${v(4)}}}
${F} and (prefers-color-scheme:dark){${B} .pjit-inspector.pjit-inspector:not(.light),:host .pjit-inspector.pjit-inspector:not(.light){${v(4)}}}
@media (forced-colors:active){.pjit-inspector.pjit-inspector.pjit-inspector{${v(5)}}}
`;var _={"all-reduce":"M9.5 2.5H3l3.2 3.7L3 10h6.5","all-gather":"M1.8 1.8h8.4v8.4H1.8zM6 1.8v8.4M1.8 6h8.4","reduce-scatter":"M6 1.5v4M6 5.5L2 10M6 5.5l4 4.5M6 5.5V10","all-to-all":"M1.5 3h2.2l4.6 6h2.2M1.5 9h2.2l4.6-6h2.2M9 1.5L10.5 3 9 4.5M9 7.5L10.5 9 9 10.5","ragged-all-to-all":"M1.5 3h2.2l4.6 6h2.2M1.5 9h2.2l4.6-6h2.2","collective-permute":"M1.5 4h8M7.5 2l2 2-2 2M10.5 8h-8M4.5 6l-2 2 2 2","collective-broadcast":"M2 6h3M5 6l4-4M5 6h4.5M5 6l4 4",kernel:"M2 3h8v6H2z",array:"M2 2.5h8M2 6h8M2 9.5h8M2 2.5v7M10 2.5v7",line:"M2 3h8M2 6h5M2 9h7"};function T(t,e=""){let i=_[t]??_.kernel;return b("svg",{class:`glyph ${e}`,viewBox:"0 0 12 12",width:13,height:13,"aria-hidden":"true"},b("path",{d:i}))}function C(t){return String(t).replace(/\B(?=(\d{3})+(?!\d))/g,",")}function y(t,e){if(!t||!t.length)return"ax-none";if(t.length>1)return"ax-many";let i=e.indexOf(t[0].split(":(")[0]);return i<0||i>3?"ax-many":`ax-${i}`}function z(t,e,i,s){return o("span",{class:`axis ${y(e,s)}`},i===null?t:`${t} ${i}`)}var $=40;function V(t){let e=o("aside",{class:"details","aria-live":"polite"}),i=()=>{let s=t.pass===null?null:t.named(t.pass),n=t.row?ue(t):s?we(t,s):ve(t);e.replaceChildren(...n.filter(r=>r!==null))};return t.listen(i),i(),e}function K(t){return o("button",{type:"button",class:"button",onclick:()=>t.clear()},"All passes")}function ue(t){let e=t.row,i=t.first.lives[e.life],[s]=t.chosen,n=t.stages[s].number,r=t.named(n),a=i?i.events:[],p=i?i.gone?`gone at the end; last called ${i.name}`:`at the end ${i.name}`:"";return[K(t),o("h2",{class:y(e.axes,t.axes)},T(e.kind),` ${e.kind} over `,z(e.words,e.axes,null,t.axes)),o("p",{class:"dim small"},e.size?`${e.size} \xB7 `:"","after ",r?r.name:"no pass"," ",o("code",{},e.name),i?.name===e.name?null:[" \xB7 ",p]),o("ol",{class:"events"},a.map(l=>ge(t,l))),o("p",{},i?"":"What became of it is unknown.")]}function ge(t,e){let i=e.of.slice(0,$);return o("li",{class:`is-${e.kind}`},o("b",{},e.words),o("button",{type:"button",class:"link small",onclick:()=>t.choosePass(e.number),disabled:!t.named(e.number)},`${e.pass} \xB7 ${e.number}`),o("ul",{},i.map(s=>o("li",{},be(t,s,e.kind!=="combined"))),e.of.length>$?o("li",{class:"dim"},`${e.of.length-$} more`):null))}function be(t,e,i){let s=/\(([^()]+:\d+)\)$/.exec(e)?.[1],n=s&&i?t.first.sources[s]:"";return[o("code",{},e.replaceAll("`","")),n?o("pre",{class:"line"},n):null]}function we(t,e){let i=t.first.kernels.flatMap(([s,n,r])=>r.filter(([a])=>a===e.number).map(([,a])=>({name:s,kind:n,words:a}))).map(s=>({...s,words:s.words.replace(/^pass \d+, [^:]*: /,"")}));return[K(t),o("h2",{},o("span",{class:"dim"},`${e.number} `),o("span",{class:"code"},e.name)),e.sentence?o("p",{},e.sentence):o("p",{class:"dim"},"This pass is known by its name only."),e.file?o("p",{class:"small"},o("code",{},e.file),o("span",{class:"dim"}," in openxla/xla")):null,e.pipeline?o("p",{class:"dim small"},`in the pipeline ${e.pipeline}`):null,o("table",{class:"figures"},e.figures.map(([s,n])=>o("tr",{},o("th",{},s),o("td",{},n)))),e.did?o("p",{},o("b",{},e.did)):o("p",{class:"dim"},"It changed no collective."),i.length?o("h3",{},`${i.length} kernels and copies of the end that it made or changed`):null,o("ul",{class:"kernels"},i.slice(0,$).map(s=>o("li",{},o("code",{},s.name)," ",s.words)),i.length>$?o("li",{class:"dim"},`${i.length-$} more`):null)]}function ve(t){return[o("h2",{},"Every pass that changed the program"),o("ol",{class:"every"},t.passes.map(e=>o("li",{},o("button",{type:"button",class:"link",title:e.sentence,onclick:()=>t.choosePass(e.number)},o("span",{class:"dim number"},e.number),o("span",{class:"code"},e.name)),o("span",{class:"dim small"},e.figures[0][1]),e.did?o("b",{class:"small"},e.did):null)))]}function J(t){let{first:e}=t,i=e.axes.map(([s,n],r)=>[r?" \xD7 ":"",z(s,[s],n,t.axes)]);return o("header",{class:"top"},o("p",{class:"what"},o("b",{},e.name),` XLA's passes \xB7 ${e.what}`,i.length?[" \xB7 mesh ",i]:null),o("p",{class:"answer"},o("b",{},e.head),`; ${e.more}.`),e.known_by?o("p",{class:"dim small"},e.known_by):null)}var S=class{constructor(e){this.first=e,this.passes=e.passes,this.stages=e.stages.map(([s,n])=>({number:s,rows:n.map(([r,a,p,l,h,m,c])=>({kind:r,axes:a,words:p,parents:l,life:h,name:m,size:c}))})),this.axes=e.axes.map(([s])=>s),this.pass=null,this.chosen=null;let i=this.passes.filter(s=>s.did).at(-1)??this.passes[0];this.after=i?.number??0,this.before=this.numberBefore(this.after),this.data=null,this.programs=new Map,this.listeners=[]}listen(e){this.listeners.push(e)}tell(){for(let e of this.listeners)e()}open(e){this.data=e,this.tell()}numberBefore(e){return this.passes.filter(i=>i.number<e).at(-1)?.number??0}named(e){return this.passes.find(i=>i.number===e)??null}choosePass(e){this.pass=e,this.chosen=null,this.after=e,this.before=this.numberBefore(e),this.tell()}choose(e,i){this.chosen=[e,i],this.pass=null,this.tell()}compare(e,i){this.before=e,this.after=i,this.tell()}clear(){this.chosen=null,this.pass=null,this.tell()}get row(){return this.chosen?this.stages[this.chosen[0]].rows[this.chosen[1]]:null}get family(){let e=new Set;if(!this.chosen)return e;let[i,s]=this.chosen,n=new Set([s]);for(let r=i;r>=0;r--){for(let a of n)e.add(`${r} ${a}`);n=new Set([...n].flatMap(a=>this.stages[r].rows[a].parents))}n=new Set([s]);for(let r=i+1;r<this.stages.length;r++){let a=new Set;this.stages[r].rows.forEach((p,l)=>{p.parents.some(h=>n.has(h))&&a.add(l)});for(let p of a)e.add(`${r} ${p}`);n=a}return e}program(e){let i=this.programs.get(e);if(i)return i;let s=[];if(this.data?.has(`program.${e}`)){let n=this.data.strings("lines"),r=this.data.strings("wheres"),a=this.data.column("where"),p=0;for(let l of this.data.column(`program.${e}`)){p+=l;let h=n.at(p),m=h.replace(/^ROOT /,"").split(" = ")[0];s.push({text:h,where:r.at(a[p]),name:m.replace(/^%/,"")})}}return this.programs.set(e,s),s}key(e){if(e==="Escape")this.clear();else if(e==="["||e==="]")this.walkPasses(e==="]"?1:-1);else if(this.chosen&&e.startsWith("Arrow"))this.walk(e);else return!1;return!0}walkPasses(e){let i=this.passes.findIndex(n=>n.number===this.after),s=this.passes[Math.max(0,Math.min(this.passes.length-1,i+e))];s&&this.choosePass(s.number)}walk(e){if(!this.chosen)return;let[i,s]=this.chosen,n=this.stages[i].rows;if(e==="ArrowLeft"&&n[s].parents.length&&this.choose(i-1,n[s].parents[0]),e==="ArrowRight"&&i+1<this.stages.length){let r=this.stages[i+1].rows.findIndex(a=>a.parents.includes(s));r>=0&&this.choose(i+1,r)}if(e==="ArrowUp"||e==="ArrowDown"){let r=M(n,this.axes),a=r[r.indexOf(s)+(e==="ArrowDown"?1:-1)];a!==void 0&&this.choose(i,a)}}};function M(t,e){let i=s=>s.axes?.length?s.axes.length>1?98:e.indexOf(s.axes[0].split(":(")[0]):99;return t.map((s,n)=>n).sort((s,n)=>t[s].kind.localeCompare(t[n].kind)||i(t[s])-i(t[n])||t[s].life-t[n].life||s-n)}var j=104,E=96,je=118,A=8,ye=14,ke=360;function Y(t){let e=o("div",{class:"lanes"}),i=o("section",{class:"strip","aria-label":"Passes, and collectives through them"},e),s=0,r=q(()=>{let a=j+E+je*t.stages.length;s=Math.max(i.clientWidth-2,Math.min(a,2400)),e.replaceChildren(...$e(t,s))});return new ResizeObserver(()=>i.clientWidth-2!==s&&r()).observe(i),t.listen(r),i}function $e(t,e){let{stages:i}=t,s=e-j-E,n=h=>j+s*(h+.5)/Math.max(1,i.length);if(!i.length)return[X(t,e,n),o("p",{class:"nothing"},"No pass made or changed a collective.")];let r=Te(t),a=b("svg",{width:e,height:r.height,class:t.chosen?"picture picked":"picture",role:"img","aria-label":t.first.head});for(let h of r.lanes)a.append(b("rect",{class:"lane",x:j,y:h.top-3,width:s,height:h.height+6}),...Ce(h));let p=t.family;return a.append(...ze(t,r,n,p),...Oe(t,r,n,p)),a.append(...Be(t,r,n(i.length-1))),[X(t,e,n),Ae(t,e),a,o("p",{class:"dim small legend"},"One line is one collective as it was made; it keeps its height through every pass, so that what is thick was combined. A line that ends in \xD7 was removed."," ",Me())]}function Z(t){return Math.round(t*10)/10}function Me(){let t=e=>o("kbd",{},e);return[t("\u2190"),t("\u2192")," what it was made of, and became; ",t("\u2191"),t("\u2193")," its neighbours; ",t("["),t("]")," the pass before and after; ",t("Esc")," all"]}function X(t,e,i){let{passes:s,stages:n,first:r}=t,a=l=>j+(e-j-E)*(l+.5)/Math.max(1,r.written),p=b("svg",{width:e,height:46,class:"ticks",role:"group","aria-label":"All passes"});p.append(b("text",{x:4,y:13},`${s.length} of ${r.written}`),b("text",{x:4,y:26,class:"faint"},"steps changed it"),b("path",{class:"every",d:Array.from({length:r.written},(l,h)=>`M${Z(a(h))} 9v4`).join("")})),n.forEach((l,h)=>{let[m,c]=[a(l.number),i(h)];p.append(b("path",{class:"lead",d:`M${m} 18C${m} 34 ${c} 26 ${c} 44`}))});for(let l of s){let h=a(l.number),m=[l.did?"tick did":"tick",l.number===t.after?"now":""],c=b("g",{class:m.join(" "),onclick:()=>t.choosePass(l.number)},b("title",{},`${l.number} ${l.name}${l.did?`: ${l.did}`:""}`),b("rect",{class:"reach",x:h-3,y:0,width:6,height:20}),b("rect",{x:h-1,y:4,width:2,height:14}));p.append(c)}return p}function Ae(t,e){let i=t.stages.map(n=>{let r=t.named(n.number);return o("button",{type:"button",class:"column","data-pass":n.number,"aria-pressed":t.pass===n.number?"true":"false",disabled:!r,title:r?.sentence,onclick:()=>r&&t.choosePass(n.number)},o("span",{},o("span",{class:"dim"},`${n.number} `),r?r.name:"before all passes"),o("b",{},r?r.did:"as the program was written"))}),s={width:`${e}px`,padding:`0 ${E}px 4px ${j}px`,"grid-template-columns":`repeat(${i.length}, minmax(0, 1fr))`};return o("div",{class:"columns",style:s},i)}function Te(t){let{stages:e}=t,i=[];for(let[c,d]of e.entries()){let u=c?e[c-1].rows.map(()=>0):[];for(let x of d.rows)for(let g of x.parents)u[g]+=1;i.push(d.rows.map(x=>x.parents.length?x.parents.reduce((g,f)=>g+i[c-1][f]/u[f],0):1))}let s=[...new Set(e.flatMap(c=>c.rows.map(d=>d.kind)))].sort(),n=s.map(c=>e.map((d,u)=>d.rows.reduce((x,g,f)=>x+(g.kind===c?i[u][f]:0),0))),r=n.reduce((c,d)=>c+Math.max(...d),0)||1,a=Math.max(.6,Math.min(9,ke/r)),p=a>=3?1.5:a>=1.5?.5:0,l=8,h=s.map((c,d)=>{let u=Math.max(Math.max(...n[d])*a,14),x=f=>e[f]?.rows.filter(w=>w.kind===c).length??0,g={kind:c,top:l,height:u,first:Math.max(...e.map((f,w)=>x(w))),last:x(e.length-1)};return l+=u+ye,g}),m=e.map((c,d)=>{let u=new Map(h.map(f=>[f.kind,f.top])),x=[],g=[];for(let f of M(c.rows,t.axes)){let{kind:w}=c.rows[f];x[f]=u.get(w)??0,g[f]=Math.max(.5,i[d][f]*a-p),u.set(w,x[f]+i[d][f]*a)}return{y:x,high:g}});return{lanes:h,columns:m,height:l,taken:m.map(c=>c.y.map(()=>0))}}function Ce(t){let e=t.top+9,i=T(t.kind);i.setAttribute("x","2"),i.setAttribute("y",String(e-10));let s=t.first===t.last?`${t.last}`:`${t.first} \u2192 ${t.last}`,n=t.height<26;return[i,b("text",{x:18,y:e},t.kind.replace("collective-","")),b("text",{x:n?j-6:18,y:n?e:e+13,class:n?"faint right":"faint"},s)]}function*ze(t,e,i,s){for(let n=1;n<t.stages.length;n++){let[r,a]=[e.columns[n-1],e.columns[n]],p=t.stages[n].rows,l=r.y.map(()=>0);for(let c of p)for(let d of c.parents)l[d]+=1;let[h,m]=[i(n-1)+A/2,i(n)-A/2];for(let c of M(p,t.axes)){let d=p[c],u=M(t.stages[n-1].rows,t.axes),x=d.parents.length>1?u.filter(w=>d.parents.includes(w)):d.parents,g=x.reduce((w,k)=>w+r.high[k]/l[k],0)||1,f=a.y[c];for(let w of x){let k=r.high[w]/l[w],ie=r.y[w]+e.taken[n-1][w];e.taken[n-1][w]+=k;let P=a.high[c]*k/g,se=t.stages[n-1].rows[w],ne=x.length>1||se.kind!==d.kind,re=s.has(`${n-1} ${w}`)&&s.has(`${n} ${c}`);yield b("path",{class:`ribbon ${y(d.axes,t.axes)}${ne?" changed":""}${re?" own":""}`,d:Se(h,ie,k,m,f,P)}),f+=P}}for(let[c,d]of l.entries())d||(yield*Ee(t,n-1,c,r,h))}}function Se(t,e,i,s,n,r){let a=(t+s)/2,p=(...l)=>l.map(Z).join(" ");return`M${p(t,e)}C${p(a,e,a,n,s,n)}V${p(n+r)}C${p(a,n+r,a,e+i,t,e+i)}Z`}function*Ee(t,e,i,s,n){let r=s.y[i]+s.high[i]/2,a=y(t.stages[e].rows[i].axes,t.axes);yield b("path",{class:`end ${a}`,d:`M${n} ${r}h18m-3 -3l6 6m0 -6l-6 6`})}function*Oe(t,e,i,s){for(let[n,r]of t.stages.entries()){let{y:a,high:p}=e.columns[n];for(let[l,h]of r.rows.entries()){let m=s.has(`${n} ${l}`),c=t.chosen?.[0]===n&&t.chosen[1]===l;yield b("rect",{class:`node ${y(h.axes,t.axes)}${m?" own":""}${c?" chosen":""}`,"data-node":`${n} ${l}`,x:i(n)-A/2,y:a[l],width:A,height:p[l],onclick:()=>t.choose(n,l)},b("title",{},`${h.name} (${h.kind}) over ${h.words}${h.size?`, ${h.size}`:""}`))}}}function*Be(t,e,i){let s=t.stages.at(-1),n=e.columns.at(-1);if(!s||!n)return;let r=0;for(let a of M(s.rows,t.axes)){let p=n.y[a]+n.high[a]/2+4;p<r||!s.rows[a].size||(r=p+13,yield b("text",{x:i+A,y:p,class:"faint"},s.rows[a].size))}}var Q=`/* XLA's passes: strip and lanes beside details, and the texts of two programs under them. */
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
`;var ee=150;function te(t){if(t.first.no_lines)return o("section",{class:"texts"},o("p",{class:"nothing"},t.first.no_lines));let e=ee,i="",s=o("div",{class:"rows",tabindex:0,role:"region","aria-label":"Instructions that differ"}),n=o("span",{class:"dim"}),r=(d,u)=>{let x=o("select",{"aria-label":d,onchange:()=>u(Number(x.value))},o("option",{value:0},"before all passes"),t.passes.map(g=>o("option",{value:g.number},`${g.number} ${g.name}`)));return x},a=r("The earlier program",d=>t.compare(d,t.after)),p=r("The later program",d=>t.compare(t.before,d)),l=o("input",{type:"search",placeholder:"only lines with \u2026","aria-label":"Only lines with these letters",oninput:d=>{i=d.target.value,m()}}),h=(d,u,x)=>o("button",{type:"button",class:"button",title:x,onclick:()=>t.walkPasses(d)},u),m=()=>{if(a.value=String(t.before),p.value=String(t.after),!t.data)return;let d=Ie(t,t.before,t.after),u=i?d.filter(f=>`${f.before}${f.after}${f.where}`.includes(i)):d,x=f=>C(d.filter(f).length);n.textContent=`${x(f=>f.before&&f.after)} changed, ${x(f=>!f.before)} new, ${x(f=>!f.after)} gone${i?`; ${C(u.length)} of them shown`:""}`;let g=o("button",{type:"button",class:"button",onclick:()=>{e+=1e3,m()}},`${C(u.length-e)} more`);s.replaceChildren(...u.slice(0,e).map(f=>Le(t,f)),...u.length>e?[g]:[],...d.length?[]:[o("p",{class:"nothing"},"These two programs have the same instructions.")])},c=[-1,-1];return t.listen(()=>{(c[0]!==t.before||c[1]!==t.after)&&(e=ee,s.scrollTop=0),c=[t.before,t.after],m()}),m(),o("section",{class:"texts","aria-label":"Two programs beside each other"},o("div",{class:"bar"},o("h2",{class:"minor"},"What differs"),h(-1,"\u25C0","the pass before"),a,"\u2192",p,h(1,"\u25B6","the next pass"),n,l),s)}function Ie(t,e,i){let s=new Map(t.program(e).map(r=>[r.name,r])),n=[];for(let r of t.program(i)){let a=s.get(r.name);s.delete(r.name),a?.text!==r.text&&n.push({name:r.name,before:a?.text??"",after:r.text,where:r.where||a?.where||""})}for(let r of s.values())n.push({name:r.name,before:r.text,after:"",where:r.where});return n}function Le(t,e){let i=t.first.sources[e.where]??"",[s,n]=Re(e.before,e.after);return o("div",{class:`pair ${e.before?e.after?"is-changed":"is-gone":"is-new"}`},o("span",{class:"where code",title:i},e.where),o("code",{class:"side old"},s),o("code",{class:"side new"},n),i?o("span",{class:"source code dim"},i):null)}function Re(t,e){if(!t||!e)return[t,e];let i=0;for(;i<t.length&&i<e.length&&t[i]===e[i];)i++;let s=0;for(;s<Math.min(t.length,e.length)-i&&t.at(-1-s)===e.at(-1-s);)s++;let n=r=>[r.slice(0,i),o("mark",{},r.slice(i,r.length-s)),r.slice(r.length-s)];return[n(t),n(e)]}function He(t,e){let i=new S(e),s=o("div",{class:e.no_lines?"frame passes bare":"frame passes"},J(i),Y(i),V(i),te(i));return t.classList.add("pjit-inspector"),t.replaceChildren(s),document.addEventListener("keydown",n=>{n.target instanceof HTMLElement&&/^(INPUT|SELECT|TEXTAREA)$/.test(n.target.tagName)||i.key(n.key)&&n.preventDefault()}),i}async function qe(){let t=document.getElementById("pjit-inspector"),e=document.getElementById("pjit-first"),i=document.getElementById("pjit-blob");if(!t||!e||!i)return;let s=new URLSearchParams(location.hash.slice(1)).get("theme");s&&(document.documentElement.dataset.theme=s);let n=He(t,JSON.parse(e.textContent??""));try{n.open(I(await R(L(i.textContent??"")))),t.setAttribute("data-ready","true")}catch(r){t.append(o("p",{class:"nothing"},`The texts of this page could not be read: ${r}`))}}document.head.append(o("style",{},`${G}
${N}
${Q}`));qe();
