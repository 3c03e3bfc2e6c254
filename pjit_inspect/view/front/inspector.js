var _n="http://www.w3.org/2000/svg",Oe={ArrowDown:1,ArrowRight:1,ArrowUp:-1,ArrowLeft:-1};function Ee(e,t,s){for(let[n,i]of Object.entries(t))if(!(i==null||i===!1))if(n.startsWith("on"))e.addEventListener(n.slice(2),i);else if(n==="style")for(let[o,r]of Object.entries(i))e.style.setProperty(o,String(r));else e.setAttribute(n,i===!0?"":String(i));return e.append(...s.flat(1/0).filter(n=>n!=null&&n!==!1)),e}function p(e,t={},...s){return Ee(document.createElement(e),t,s)}function j(e,t={},...s){return Ee(document.createElementNS(_n,e),t,s)}function G(e,t,s){return s?e.key in Oe?Math.max(0,Math.min(s-1,t+Oe[e.key])):e.key==="Home"?0:e.key==="End"?s-1:null:null}function Y(e,t,s,n){let i=t.map(([l,a])=>p("button",{type:"button",role:"tab","data-tab":l,onclick:()=>n(l)},a)),o=p("div",{class:"tabs",role:"tablist","aria-label":e,onkeydown:l=>{let a=G(l,t.findIndex(([c])=>c===s()),t.length);a!==null&&(l.preventDefault(),n(t[a][0]),i[a].focus())}},i),r=()=>{t.forEach(([l],a)=>{i[a].setAttribute("aria-selected",String(l===s())),i[a].tabIndex=l===s()?0:-1})};return r(),{bar:o,update:r}}function Q(e){let t=!1;return()=>{t||(t=!0,requestAnimationFrame(()=>{t=!1,e()}))}}var Ce={B:1,KiB:1024,MiB:1048576,GiB:1073741824,TiB:1099511627776,PiB:0x4000000000000};function Bn(e){return e<2**10?"B":e<2**20?"KiB":e<10*2**30?"MiB":e<10*2**40?"GiB":e<10*2**50?"TiB":"PiB"}function k(e){let t=Bn(e),s=e/Ce[t];return Number.isInteger(s)||s>=99.95?`${b(ze(s))} ${t}`:`${Le(s,s>=9.995?1:2)} ${t}`}function Le(e,t){let s=10**t,n=Math.floor(e*s);return(n+.5)/s===e&&n%2===0?(n/s).toFixed(t):e.toFixed(t)}function ze(e){let t=Math.floor(e);return e-t!==.5?Math.round(e):t%2?t+1:t}function b(e){return String(e).replace(/\B(?=(\d{3})+(?!\d))/g,",")}function S(e,t){return`${b(e)} ${t}${e===1?"":"s"}`}function bt(e,t){let s=[];for(let o of[...e].sort((r,l)=>r-l)){let r=s[s.length-1];r&&o===r[1]+1?r[1]=o:s.push([o,o])}let n=t===void 0?s:s.slice(0,t);return n.map(([o,r])=>r-o>1?`${o}-${r}`:r>o?`${o} ${r}`:`${o}`).join(" ")+(n.length<s.length?" ...":"")}function W(e){let[t,s]=e<999.5?[1,"\xB5s"]:e<999500?[1e3,"ms"]:[1e6,"s"],n=e/t,i=n>=99.95?0:n>=9.995?1:2;return`${i?Le(n,i):b(ze(n))} ${s}`}function tt(e){let t=Math.min(5,Math.max(0,Math.floor(Math.log10(Math.max(1,e))/3))),s=e/1e3**t;return`${s>=100?b(Math.round(s)):Number(s.toPrecision(3))} ${["","K","M","G","T","P"][t]}FLOP`}function _e(e){let t=Math.min(5,Math.floor(Math.log2(Math.max(1,e)*1.03)/10)),s=e/2**(10*t);return`${s>=9.95?Math.round(s):Number(s.toFixed(1))} ${Object.keys(Ce)[t]}`}function Wt(e){return`${Math.floor(100*e)}%`}var Be={"all-reduce":"M9.5 2.5H3l3.2 3.7L3 10h6.5","all-gather":"M1.8 1.8h8.4v8.4H1.8zM6 1.8v8.4M1.8 6h8.4","reduce-scatter":"M6 1.5v4M6 5.5L2 10M6 5.5l4 4.5M6 5.5V10","all-to-all":"M1.5 3h2.2l4.6 6h2.2M1.5 9h2.2l4.6-6h2.2M9 1.5L10.5 3 9 4.5M9 7.5L10.5 9 9 10.5","ragged-all-to-all":"M1.5 3h2.2l4.6 6h2.2M1.5 9h2.2l4.6-6h2.2","collective-permute":"M1.5 4h8M7.5 2l2 2-2 2M10.5 8h-8M4.5 6l-2 2 2 2","collective-broadcast":"M2 6h3M5 6l4-4M5 6h4.5M5 6l4 4",kernel:"M2 3h8v6H2z",array:"M2 2.5h8M2 6h8M2 9.5h8M2 2.5v7M10 2.5v7",line:"M2 3h8M2 6h5M2 9h7"};function P(e,t=""){let s=Be[e]??Be.kernel;return j("svg",{class:`glyph ${t}`,viewBox:"0 0 12 12",width:13,height:13,"aria-hidden":"true"},j("path",{d:s}))}function yt(e){let t=e.tiles.map((n,i)=>i);t.sort((n,i)=>+(e.tiles[n]===1)-+(e.tiles[i]===1)||e.shape[i]-e.shape[n]||n-i);let s=t.slice(0,2).sort((n,i)=>n-i);return s.length===2?[s[0],s[1]]:[null,s.length?s[0]:null]}function Nn(e,t){return Math.max(e,t)<=8?[1,1]:[Math.ceil(e/4),Math.ceil(t/4)]}function Ne(e,t){let s=new Array(t.length);for(let n=t.length-1;n>=0;n--)s[n]=e%t[n],e=Math.floor(e/t[n]);return s}function Pe(e,t=yt(e),s=e.tiles.map(()=>0)){let[n,i]=t,o=d=>d===null?1:e.tiles[d],r=Nn(o(n),o(i)),l=Math.ceil(o(n)/r[0]),a=Math.ceil(o(i)/r[1]),c=e.tiles.map((d,u)=>u).filter(d=>d!==n&&d!==i),h=Array.from({length:l*a},()=>[]);for(let d=0;d<e.devices.length;d++){let u=Ne(e.tileOf[d],e.tiles);if(c.some(g=>u[g]!==s[g]))continue;let m=n===null?0:Math.floor(u[n]/r[0]),x=i===null?0:Math.floor(u[i]/r[1]);h[m*a+x].push(e.devices[d])}let f=h.map((d,u)=>({row:Math.floor(u/a),column:u%a,devices:d.sort((m,x)=>m-x)}));return{rowDim:n,columnDim:i,rows:l,columns:a,perBlock:r,depthDims:c,blocks:f}}function Re(e,t){let s=Pn(e,t);return s==="all"?[s]:s.split(", ").filter(n=>n!==":")}function Pn(e,t){let s=Ne(e,t.tiles),n=t.shape.map((i,o)=>{let r=Math.ceil(i/t.tiles[o]),[l,a]=[Math.min(s[o]*r,i),Math.min((s[o]+1)*r,i)];return l===0&&a===i?":":`${l}:${a}`});return n.every(i=>i===":")?"all":n.join(", ")}function M(e,t){if(!e||!e.length)return"ax-none";if(e.length>1)return"ax-many";let s=t.indexOf(e[0].split(":(")[0]);return s<0||s>3?"ax-many":`ax-${s}`}function B(e,t){return e.map(s=>Rn(s,t))}function Rn(e,t){return typeof e=="string"?e:"strong"in e&&typeof e.strong=="string"?p("b",{},e.strong):"dim"in e?p("span",{class:"dim"},e.dim):"name"in e?p("b",{class:"code"},e.name):"code"in e?p("code",{},e.code):"axis"in e?De(e.axis,e.axes,e.size,t):"number"in e?Dn(e):"prose"in e?ct(e.prose,t):""}function De(e,t,s,n){return p("span",{class:`axis ${M(t,n)}`},s===null?e:`${e} ${s}`)}function Dn(e){let t=e.unit?`${e.number}\xA0${e.unit}`:e.number,s=e.how==="counted"||!e.unit?void 0:e.how;return p(e.strong?"b":"span",{title:s},t)}function ct(e,t){return e.split(/`([^`]*)`/).map((s,n)=>n%2===0?s:t.includes(s)?De(s,[s],null,t):p("code",{},s))}var In=0;function vt(e,t,s){let n=e.header.shardings[t];if(!n)return null;let i=e.column("shardings.ends"),[o,r]=[t?i[t-1]:0,i[t]];return{shape:s,tiles:n.tiles,spec:n.spec,copies:n.copies,partial:n.partial,devices:e.column("sharding_devices").subarray(o,r),tileOf:e.column("sharding_tiles").subarray(o,r)}}function Ft(e,t){let s=Pe(e,t.dims??yt(e),t.behind),{width:n,height:i}=Un(e,s,t.width??220),o=s.depthDims.length?9:0,r=e.isPartial||e.partial.length>0,l=r?2:Math.min(3,e.copies-1),a=22,c=20+o,h=o+l*3.5+2,f=M([...new Set(ht(e,s.rowDim).concat(ht(e,s.columnDim)))],t.axes),d=M(e.partial,t.axes),u=[];o&&u.push(j("path",{class:"edge",d:`M0 0l${o} ${-o}h${n}l${-o} ${o}M${n} ${i}l${o} ${-o}v${-i}`}));for(let $=l;$>0;$--){let I=o+$*3.5;u.push(j("rect",{class:r?`copy partial ${d}`:"copy",x:I,y:I-2*o,width:n,height:i}))}let m=`pjit-hatch-${In++}`,x=r||e.copies>1;x&&u.unshift(Wn(m,r?d:""));let[g,w]=[n/s.columns,i/s.rows],y=s.blocks.length-1||1;s.blocks.forEach(($,I)=>{let[q,X]=[$.column*g,$.row*w],Z=t.device!==void 0&&t.device!==null&&$.devices.includes(t.device),wt=s.blocks.length===1?.3:.22+.5*I/y;u.push(j("rect",{class:$.devices.length?`block ${f}`:"block empty",x:q,y:X,width:g,height:w,"fill-opacity":wt})),x&&$.devices.length&&u.push(j("rect",{x:q,y:X,width:g,height:w,fill:`url(#${m})`})),Z&&u.push(j("rect",{class:"ring",x:q+1,y:X+1,width:g-2,height:w-2})),$.devices.length&&u.push(Fn(q+g/2,X+w/2,Hn($.devices,g-6),Z))}),u.push(...Kn(e,s,n,i,o,t.axes));let T=Math.max(0,l*3.5-o)+3,v=[-a,-c,a+n+h+(s.depthDims.length?6:0),c+i+T];return j("svg",{class:"shards",viewBox:v.join(" "),width:v[2],height:v[3],role:"img","aria-label":t.label},u)}function Wn(e,t){return j("pattern",{id:e,width:5,height:5,patternUnits:"userSpaceOnUse",patternTransform:"rotate(45)"},j("path",{class:`hatch ${t}`,d:"M1 0V5"}))}function Fn(e,t,s,n){let i=s.length*6.2+6;return j("g",{},j("rect",{class:"label",x:e-i/2,y:t-7,width:i,height:14,rx:2}),j("text",{x:e,y:t+3.7,"font-weight":n?600:400},s))}function Hn(e,t){for(let s of[void 0,3,2,1]){let n=bt(e,s);if(n.length*6.2+6<=t)return n}return String(e[0])}function ht(e,t){return t===null||!e.spec||e.tiles[t]===1?[]:e.spec[t]}function Un(e,t,s){if(t.columnDim===null)return{width:44,height:30};let n=Math.max(...t.blocks.map(a=>bt(a.devices,2).length))*6.2+12,i=t.columns*Math.min(t.columns<=4?60:30,n);if(t.rowDim===null)return{width:Math.min(Math.max(100,i),s),height:28};let o=(e.shape[t.columnDim]||1)/(e.shape[t.rowDim]||1),r=Math.exp(Math.max(-.5,Math.min(.5,Math.log(o)/4))),l=Math.max(62/r,t.rows*(t.rows<=4?20:16.5),44);return{width:Math.min(Math.max(86*r,i,52),s),height:l}}function Kn(e,t,s,n,i,o){let r=[];for(let[l,a]of[[t.columnDim,!0],[t.rowDim,!1]]){if(l===null)continue;let c=ht(e,l),h=M(c,o),[f,d]=a?[s,t.columns]:[n,t.rows];if(e.tiles[l]>1){let w=f/d,T=Array.from({length:d},(v,$)=>[$*w+1.2,($+1)*w-1.2]).map(([v,$])=>a?`M${v} ${-i-3}H${$}`:`M-3 ${v}V${$}`).join("");r.push(j("path",{class:`ruler ${h}`,d:T,transform:a?`translate(${i} 0)`:void 0}))}let u=c.length?`${e.shape[l]} ${c.join(" ")}`:e.tiles[l]>1&&e.tiles[l]<e.shape[l]?`${e.shape[l]} / ${e.tiles[l]}`:String(e.shape[l]),x=u.length<=3?{x:-12,y:n/2+4}:{x:-9,y:n/2,transform:`rotate(-90 -9 ${n/2})`},g=a?{x:(s+i)/2,y:-i-8}:x;r.push(j("text",{class:`dim ${h}`,...g},u))}if(t.depthDims.length){let l=t.depthDims.map(c=>[e.shape[c],...ht(e,c)].join(" ")).join(" \xD7 "),a=t.depthDims.flatMap(c=>ht(e,c));r.push(j("text",{class:`dim depth ${M(a,o)}`,x:-4,y:-i+1,"text-anchor":"end"},l))}return r}function Ie(e,t){let s=yt(e),n=e.tiles.map(()=>0),i=p("div",{class:"picture"}),o=()=>i.replaceChildren(Ft(e,{...t,dims:s,behind:n}));if(o(),e.tiles.length<3)return p("div",{},i);let r=(d,u)=>{let m=p("select",{"aria-label":u,onchange:()=>{let x=Number(m.value),g=s[1-d];s=d===0?[x,g===x?s[0]:g]:[g===x?s[1]:g,x],h()}},e.shape.map((x,g)=>p("option",{value:g},`${g}: ${x}`)));return m},[l,a]=[r(0,"Dimension drawn down"),r(1,"Dimension drawn across")],c=p("div",{class:"sliders"}),h=()=>{l.value=String(s[0]),a.value=String(s[1]),n.fill(0),c.replaceChildren(...e.tiles.map((d,u)=>d>1&&!s.includes(u)?f(u,d):null).filter(d=>d!==null)),o()},f=(d,u)=>{let m=p("span",{class:"dim"},`1 of ${u}`),x=p("input",{type:"range",min:0,max:u-1,value:0,"aria-label":`Piece of dimension ${d}`,oninput:()=>{n[d]=Number(x.value),m.textContent=`${n[d]+1} of ${u}`,o()}});return p("label",{},`piece of ${d} `,x,m)};return h(),p("div",{},i,p("div",{class:"picker"},p("label",{},"down ",l),p("label",{},"across ",a)),c)}function We(e){let t=p("section",{class:"details","aria-label":"Details",tabindex:0}),s=()=>{let{selection:n}=e.state;t.replaceChildren(...n===null||!e.data?qn(e):Xn[n.type](e))};return e.listen(n=>{n.has("selection")&&requestAnimationFrame(()=>{t.scrollTop=0}),(n.has("selection")||n.has("data")||n.has("device")&&e.state.selection?.type==="array")&&s()}),s(),t}function qn(e){let t=e.first.memory.length?[p("p",{},B(e.first.memory,e.first.axes))]:[],s=e.first.times.length?[p("p",{class:"dim"},B(e.first.times,e.first.axes))]:[],n=e.first.measured?[p("p",{},e.first.measured)]:[];return[p("h2",{},"Nothing selected"),p("p",{class:"dim"},"Choose a row, a line or a device. \u2191 \u2193 walk the list."),...t,...n,...s]}var Xn={collective:Gn,array:Zn,kernel:Qn,line:ti};function Gn(e){let t=e.selected,{axes:s}=e.first,n=e.data?.header.axis_sets[t.axes];return[p("h2",{class:M(n.axes,s)},P(t.kind)," ",B(t.title,s)),p("p",{class:"sub code"},p("bdi",{},t.what)),p("div",{class:"marks"},t.chips.map(i=>p("span",{class:"markchip"},i))),...t.reasons.flatMap(i=>[...i.sentences.map(o=>p("p",{class:"cause"},B(o,s))),i.facts.length?p("details",{},p("summary",{},`${S(i.facts.length,"fact")} behind it`),p("ul",{class:"facts"},i.facts.map(o=>p("li",{},B(o,s))))):null]).filter(Boolean),...t.picture?[Yn(t,s)]:[],Ht(t.numbers),Ut([["moves",t.moves],[t.kind==="collective-permute"?"from, to":"groups",t.groups_words],["at the same time",t.beside]]),...Vn(e,t),...He(t.names,t.number),...t.suggestions.map(i=>Jn(i,s))]}function Yn(e,t){let s=(o,r)=>{let l={...o,tileOf:o.tile_of,copies:new Set(o.tile_of).size>1?1:o.tile_of.length,isPartial:o.is_partial};return p("figure",{},Ft(l,{axes:t,width:84,label:`${r}: ${o.words}, ${o.caption}`}),p("figcaption",{},`${r}: ${o.caption}`,p("br"),p("code",{},o.words)))},n=s(e.picture.before,"before"),i=Number(n.querySelector("svg")?.getAttribute("height")??0);return p("div",{class:"moves"},p("div",{class:"pair"},n,p("span",{class:"arrow","aria-hidden":"true",style:{"margin-top":`${Math.max(16,i/2-8)}px`}},"\u2192"),s(e.picture.after,"after")),p("p",{class:"dim small"},e.picture.note))}function Ht(e){return p("table",{class:"numbers"},e.map(([t,s,n],i)=>{let o=s.lastIndexOf(" "),[r,l]=o>1&&!s.startsWith("\xD7")?[s.slice(0,o),s.slice(o+1)]:[s,""];return p("tr",{class:i===e.length-1?"sum":void 0},p("th",{scope:"row"},t),p("td",{class:"figure"},r),p("td",{class:"unit"},l),p("td",{class:"how"},n))}))}function Ut(e){let t=e.filter(([,s])=>s);return p("dl",{class:"pairs"},t.map(([s,n])=>[p("dt",{},s),p("dd",{class:"code"},n)]))}function Vn(e,t){if(!t.lines?.length)return[];let s=t.lines.map(([n,i],o)=>p("li",{},Fe(e,n),o?p("span",{class:"dim"}," (caller)"):null,i?p("code",{class:"line"},i):null));return[p("h3",{},"Source"),p("ul",{class:"places"},s)]}function Fe(e,t){let s=e.data?.column("spot_lines").length??0;for(let n=0;n<s;n++)if(e.spotName(n)===t)return p("button",{type:"button",class:"link code",onclick:()=>e.select({type:"line",row:n})},t);return p("code",{},t)}function He(e,t){let s=e.filter(Boolean);if(!s.length)return[];let n=s.slice(0,8).join(", ")+(t>8?` and ${b(t-8)} more`:"");return[p("h3",{},`In the HLO (${S(t,"instruction")})`),p("p",{class:"code names"},n)]}function Jn(e,t){return p("aside",{class:"suggestion"},p("b",{},"Suggestion"),p("p",{},ct(e.title,t)),p("p",{},ct(e.sentence,t)),p("dl",{class:"pairs"},p("dt",{},"gain"),p("dd",{},e.gain),p("dt",{},"check"),p("dd",{},e.checked)))}function Zn(e){let t=e.selected,{data:s,first:n,state:i}=e,o=s&&vt(s,t.sharding,t.shape),r=t.copies===null?"copies unknown":t.copies===1?"no copies":`${b(t.copies)} copies of each element`,l=`${t.name}: ${t.array}, ${t.spec}, ${r}`;return[p("h2",{class:"code"},p("bdi",{},t.name)),p("p",{class:"sub"},t.role,t.number>1?`, ${b(t.number)} alike`:"",t.place?`, ${t.place}`:"",t.phase?`, ${t.phase}`:""),o?Ie(o,{axes:n.axes,device:i.device,label:l}):p("p",{class:"dim"},t.fate[0]??"Its sharding is unknown."),p("p",{class:"small"},`${r}. `,p("code",{},t.spec)),Ht([["per device",t.each,t.each==="unknown"?"unknown":"counted"],["copies of each element",t.copies===null?"unknown":`\xD7 ${t.copies}`,t.copies===null?"unknown":"counted"],[t.number>1?`all ${t.number}, per device`:"in all, per device",t.all,t.all==="unknown"?"unknown":"counted"]]),Ut([["global",t.array],["local, per device",t.local]]),t.fate.length?p("ul",{class:"facts"},t.fate.map(a=>p("li",{},ct(a,n.axes)))):"",i.device===null?p("p",{class:"dim small"},"Point at a device of the mesh to see its block."):"",t.names.length?p("p",{class:"code names"},t.names.slice(0,40).join(", ")):""]}function Qn(e){let t=e.selected,s=t.contains.map(([i,o])=>p("li",{},p("code",{},i),o>1?` \xD7 ${o}`:"")),n=(i,o)=>i.join(", ")+(o?` and ${o} more`:"");return[p("h2",{},P("kernel")," ",t.target||`${t.kind} fusion`),p("p",{class:"sub code"},p("bdi",{},t.what)),t.place?p("ul",{class:"places"},p("li",{},Fe(e,t.place))):"",Ht(t.numbers),p("h3",{},"Contains"),s.length?p("ul",{class:"opcodes"},s):p("p",{class:"dim"},"What it contains is unknown."),Ut([["reads",n(t.inputs,t.inputs_more)],["writes",n(t.outputs,0)]]),...He(t.names,t.number)]}function ti(e){let t=e.state.selection?.row??-1,n=["collective","kernel","array"].map(i=>({type:i,rows:e.rows(`${i}s`).map((o,r)=>[o,r]).filter(([o])=>o.spots.includes(t))})).filter(({rows:i})=>i.length).flatMap(({type:i,rows:o})=>[p("h3",{},`${S(o.length,i)} of this line`),p("ul",{class:"places"},o.slice(0,30).map(([r,l])=>p("li",{},p("button",{type:"button",class:"link",onclick:()=>e.select({type:i,row:l})},P(i==="collective"?r.kind:i)," ",r.what??r.name),p("span",{class:"dim"},` ${r.sent??r.traffic??r.each}`))))]);return[p("h2",{class:"code"},e.spotName(t)),...n.length?n:[p("p",{class:"dim"},"No collective, kernel or array is of this line.")]]}var kt=class{constructor(t,s={}){this.first=t,this.data=null,this.state={list:"collectives",centre:t.has_graph?"graph":"text",pane:"list",wide:!1,text:"",axes:null,kind:null,role:null,cause:null,note:null,sort:"",reversed:!1,heat:"selection",device:null,selection:null,files:0,shown:s.texts??["source","hlo"],hoverSpot:-1},this.listeners=[],this.isOpening=!1,this.isNarrow=()=>!1}listen(t){this.listeners.push(t)}set(t){let s=Object.keys(t),n=new Set(s.filter(i=>this.state[i]!==t[i]));n.size&&(Object.assign(this.state,t),this.listeners.forEach(i=>i(n)))}open(t){this.data=t,this.listeners.forEach(s=>s(new Set(["data"])))}rows(t){return this.data?this.data.header[t]??[]:t==="collectives"?this.first.collectives:[]}get selected(){let{selection:t}=this.state;return!t||t.type==="line"?null:this.rows(`${t.type}s`)[t.row]??null}select(t,s=!1){this.isOpening=s;let n=this.state.selection;if(n?.type===t?.type&&n?.row===t?.row)return;let i=t&&t.type!=="line"?{list:`${t.type}s`}:{};this.set({selection:t,...i})}spots(){let{selection:t}=this.state;return t?t.type==="line"?new Set([t.row]):new Set(this.selected?.spots??[]):new Set}selectionName(){let{selection:t}=this.state;if(!t||!this.data)return"";if(t.type==="line")return this.spotName(t.row);let s=this.selected;return s?t.type==="array"?s.name:s.names[0]??"":""}spotName(t){if(!this.data)return"";let s=this.data.header.files[this.data.column("spot_files")[t]];return s===void 0?"":`${s}:${this.data.column("spot_lines")[t]}`}selectName(t){if(!t)return this.select(null),!0;for(let n of["collective","kernel","array"]){let i=this.rows(`${n}s`).findIndex(o=>n==="array"?o.name===t||o.names.includes(t):o.names?.includes(t));if(i>=0)return this.select({type:n,row:i}),!0}let s=this.data?.column("spot_lines").length??0;for(let n=0;n<s;n++)if(this.spotName(n)===t)return this.select({type:"line",row:n}),!0;return!1}};function Kt(e,t,s){let{note:n=null}=t;if(n!==null&&s.notes[n].list===t.list&&!e.notes?.includes(n)||t.list==="collectives"&&((t.cause??null)!==null&&!e.causes.includes(t.cause)||t.axes!==null&&e.axes!==t.axes||t.kind!==null&&e.kind!==t.kind)||t.list==="arrays"&&t.role!==null&&e.role!==t.role)return!1;if(!t.text)return!0;let i=[e.kind,e.what,e.name,e.place,e.cause,e.phase,...e.causes??[],e.array,e.spec,e.target,...e.names??[]];t.list==="collectives"&&i.push(s.axis_sets[e.axes]?.words);let o=t.text.toLowerCase().split(/\s+/),r=i.filter(Boolean).join(" ").toLowerCase();return o.every(l=>r.includes(l))}var N={text:"",axes:null,kind:null,cause:null,role:null,note:null},Ue=["forward","backward","recompute","optimizer"],Ke=new Intl.Collator("en",{numeric:!0}),Xe={collectives:[["size","bytes sent"],["name","name"],["count","count"],["place","place"],["phase","phase"]],arrays:[["given","role"],["size","bytes"],["name","name"],["count","count"],["place","place"]],kernels:[["size","memory traffic"],["time","measured time"],["name","name"],["count","count"],["place","place"]]};function et(e){return Object.keys(N).some(s=>(e[s]??null)!==N[s])}function qt(e){let t=Xe[e.list].map(([s])=>s);return t.includes(e.sort)?e.sort:t[0]}function Ge(e,t,s){let n=e.map((o,r)=>[o,r]).filter(([o])=>Kt(o,t,s)),i=qt(t);return i!=="given"&&n.sort(([o,r],[l,a])=>ei[i](o,l)||r-a),t.reversed?n.reverse():n}var ei={size:(e,t)=>$t(t)-$t(e),time:(e,t)=>(t.time_us??-1)-(e.time_us??-1),count:(e,t)=>t.number-e.number,name:(e,t)=>Ke.compare(e.name??e.what,t.name??t.what),place:(e,t)=>+!e.place-+!t.place||Ke.compare(e.place??"",t.place??""),phase:(e,t)=>qe(e)-qe(t)||$t(t)-$t(e)};function Ye(e,t){return Xe[e].filter(([s])=>s!=="time"||t.some(n=>n.time_us!==void 0))}function $t(e){return e.sent_bytes??e.bytes??0}function qe(e){let t=Ue.indexOf(e.phase);return t<0?Ue.length:t}function Ve(e,t,s){let n=new Map,i=0;for(let o of e){if(!Kt(o,{...t,axes:null},s))continue;let[r,l]=n.get(o.axes)??[0,0];n.set(o.axes,[r+o.sent_bytes,l+o.number]),i+=o.number}return{sums:n,number:i}}var si="PJITVIEW",ni={i4:Int32Array,u1:Uint8Array,u4:Uint32Array,f8:Float64Array},Xt=class{constructor(t,s){this.bytes=t,this.ends=s,this.length=s.length,this.decoder=new TextDecoder}at(t){let s=t?this.ends[t-1]:0;return this.decoder.decode(this.bytes.subarray(s,this.ends[t]))}longest(){let t=0;for(let s=0,n=0;s<this.length;n=this.ends[s++])t=Math.max(t,this.ends[s]-n);return t}};function Gt(e){let t=new TextDecoder;if(t.decode(new Uint8Array(e,0,8))!==si)throw new Error("this is no inspector data");let[s,n]=new Uint32Array(e,8,2);if(s!==1)throw new Error(`inspector data of version ${s}; this page reads version 1`);let i=JSON.parse(t.decode(new Uint8Array(e,16,n))),o=16+n,r=c=>c in i.columns,l=c=>{if(!r(c))return new Int32Array(0);let[h,f,d]=i.columns[c];return new ni[h](e,o+f,d)};return{header:i,column:l,strings:c=>new Xt(l(c),l(`${c}.ends`)),has:r}}function A(e,t){return[t?e[t-1]:0,e[t]??0]}async function Je(e){let t=atob(e.trim()),s=new Uint8Array(t.length);for(let i=0;i<t.length;i++)s[i]=t.charCodeAt(i);let n=new Blob([s]).stream().pipeThrough(new DecompressionStream("deflate"));return await new Response(n).arrayBuffer()}var Ze=6,ii={own:"",combined:"most of its names are of this scope",body:"most of what it fuses is of this scope",producer:"by what it sums",user:"by what takes its result",operand:"by what it takes",caller:"by the loop or call it stands in",argument:"by the argument it reads",array:"by the array it updates",loop:"moved out of a loop",none:"nothing tells its scope"};function es(e,t){let s=e.column("graph.kernel.box"),n=[];s.forEach((r,l)=>r===t&&n.push(l));let i=new Map(n.map((r,l)=>[r,l])),o=ai(e,t,i);return{title:ns(e,t),facts:oi(e,t),kernels:ri(e,n,o.args),edges:o.edges,stubs:[...ts(e,o.into,!0),...ts(e,o.outof,!1)],isList:!!e.column("graph.box.is_list")[t]}}function ss(e,t){let s=e.column("graph.row.parent"),n=e.strings("graph.row.labels"),i=[];for(let o=t;o>0;o=s[o])i.unshift(n.at(o));return i.join("/")||(t>=0?n.at(t):"unknown")}function ns(e,t){let{graph:s}=e.header,n=ss(e,e.column("graph.box.row")[t]);return s.is_differentiated?`${n}, ${s.phases[e.column("graph.box.phase")[t]]}`:n}function oi(e,t){let s=l=>e.column(`graph.box.${l}`)[t],[n,i,o,r]=["kernels","matmuls","inferred","iterations"].map(s);return[S(n,"kernel"),i?S(i,"matmul"):"",o?`${b(o)} placed by inference`:"",r>1?`per iteration, ${b(r)} per call`:""].filter(Boolean)}function ri(e,t,s){let n=v=>e.column(`graph.kernel.${v}`),[i,o,r,l,a,c,h,f,d]=["opcode","label","how","runs","bytes","matmuls","flops","spot","entity"].map(n),u=e.header.graph.measured?n("time"):[],m=e.strings("graph.kernel.names"),x=e.strings("graph.labels"),g=e.strings("graph.opcodes"),w=e.strings("graph.arguments"),y=new Map([...e.column("graph.collective.kernel")].map((v,$)=>[v,$]).reverse()),T=li(e,t);return t.map(v=>({kernel:v,name:m.at(v),label:x.at(o[v]),opcode:g.at(i[v]),bytes:a[v],runs:l[v],time:u[v]??-1,matmuls:c[v],flops:h[v],collective:y.get(v)??-1,entity:d[v],spot:f[v],how:ii[e.header.graph.hows[r[v]]]??"",mixes:T.get(v)??[],args:[...s.get(v)??[]].map($=>w.at($)||`argument ${$}`)}))}function li(e,t){let s=c=>e.column(`graph.mix.${c}`),[n,i,o,r]=["kernel","row","phase","instructions"].map(s),l=new Set(t),a=new Map;return n.forEach((c,h)=>{if(!l.has(c))return;let f=e.header.graph.is_differentiated?`, ${e.header.graph.phases[o[h]]}`:"";a.set(c,[...a.get(c)??[],`${ss(e,i[h])}${f} (${S(r[h],"instruction")})`])}),a}function ai(e,t,s){let[n,i,o,r,l]=["ends","source","element","carried","bytes"].map(x=>e.column(`graph.read.${x}`)),a=e.column("graph.sizes"),c=e.column("graph.kernel.box"),h=new Map,f=new Map,d=new Map,u=new Map;for(let x=0,g=0;x<c.length;x++)for(let[,w]=A(n,x);g<w;g++){let y=i[g],T=c[x]===t;if(y<-1&&T&&Qe(h,x).add(-2-y),y<0||!T&&c[y]!==t)continue;let v=!!r[g],$={name:`${y}.${o[g]}`,bytes:a[l[g]]??0,isLater:v};T?c[y]!==t?Yt(d,c[y],s.get(x),$):v?Yt(d,-1,s.get(x),$):y<x&&Qe(f,s.get(y)).add(s.get(x)):Yt(u,c[x],s.get(y),$)}return{edges:[...f].sort((x,g)=>x[0]-g[0]).flatMap(([x,g])=>[...g].map(w=>[x,w])),args:h,into:d,outof:u}}function Qe(e,t){let s=e.get(t)??new Set;return e.set(t,s),s}function Yt(e,t,s,n){let i=e.get(t)??{kernels:new Set,values:new Map,isLater:!0};e.set(t,i),i.kernels.add(s),i.values.set(n.name,n.bytes),i.isLater&&=n.isLater}function ci(e,t,s,n){return t<0?"the iteration before":`${ns(e,t)}${s?n?", the iteration before":", the next iteration":""}`}function ts(e,t,s){let n=[...t].map(([a,c])=>({isIn:s,box:a,words:ci(e,a,c.isLater,s),more:[],bytes:[...c.values.values()].reduce((h,f)=>h+f,0),kernels:[...c.kernels].sort((h,f)=>h-f)})).sort((a,c)=>c.bytes-a.bytes||a.box-c.box),i=n.length>Ze?n.slice(0,Ze-1):n,o=n.slice(i.length);if(!o.length)return i;let r=o.map(a=>`${a.words}: ${k(a.bytes)}`),l=[...new Set(o.flatMap(a=>a.kernels))].sort((a,c)=>a-c);return[...i,{isIn:s,box:-1,words:`${S(o.length,"box").replace(/boxs$/,"boxes")} more`,more:r,bytes:o.reduce((a,c)=>a+c.bytes,0),kernels:l}]}function Mt(e,t){let s=e.runs===1?"":e.runs<0?", run unknown times":`, run ${b(e.runs)} times per call`,n=e.args.slice(0,8).join(", ")+(e.args.length>8?` and ${e.args.length-8} more`:""),i=e.mixes.slice(0,4);return e.mixes.length>4&&i.push(`${e.mixes.length-4} more`),[st(e,t),`${e.name} (${e.opcode})`,`result ${e.bytes<0?"of unknown size":k(e.bytes)}${s}`,e.matmuls?`${S(e.matmuls,"matmul")}${e.flops<0?"":`, ${tt(e.flops)}`}`:"",e.time<0?"":`${W(e.time)} per call (measured, slowest device)`,n&&`takes ${n}`,e.how&&`stands here by inference: ${e.how}`,i.length?`of several scopes, also ${i.join("; ")}`:""].filter(Boolean)}function st(e,t){let s=pt(e,t);return s?`${t.header.collectives[t.column("graph.collective.row")[e.collective]]?.kind??e.opcode} over ${s.words}`:e.label}function pt(e,t){let s=e.collective<0?void 0:t.header.collectives[t.column("graph.collective.row")[e.collective]];return s?t.header.axis_sets[s.axes]:null}function ft(e,t){let{data:s}=e,n=t.collective<0?-1:s?.column("graph.collective.row")[t.collective]??-1;n>=0?e.select({type:"collective",row:n}):t.entity>=0?e.select({type:t.entity%2?"kernel":"collective",row:t.entity>>1}):t.spot>=0&&e.select({type:"line",row:t.spot})}function dt(e,t){let{selection:s}=e.state;return!s||s.type==="array"?!1:s.type==="line"?t.entity<0&&t.collective<0&&t.spot===s.row:s.type==="collective"&&t.collective>=0?e.data?.column("graph.collective.row")[t.collective]===s.row:t.entity===2*s.row+ +(s.type==="kernel")}function ut(e){let t=e.closest(".boxbody");if(!t)return;let s=t.getBoundingClientRect(),n=e.getBoundingClientRect();n.top<s.top?t.scrollTop-=s.top-n.top+8:n.bottom>s.bottom&&(t.scrollTop+=n.bottom-s.bottom+8),n.left<s.left?t.scrollLeft-=s.left-n.left+8:n.right>s.right&&(t.scrollLeft+=n.right-s.right+8)}function os(e,t){let s=pi(e.length,t),n={rows:[],layer:s,count:e.length,width:e.map(i=>i.width),height:e.map(i=>i.height),source:e.map((i,o)=>o),up:e.map(()=>[]),down:e.map(()=>[]),x:[]};for(let[i,o]of hi(t))di(n,i,o);return n.layer.forEach((i,o)=>(n.rows[i]??=[]).push(o)),n}function hi(e){let t=new Map;for(let[s,n]of e)t.set(s,(t.get(s)??new Set).add(n));return[...t].sort((s,n)=>s[0]-n[0])}function pi(e,t){let s=fi(e,t),{next:n,before:i}=rs(e,t),o=new Array(e).fill(0);for(let r of s)for(let l of n[r])o[l]=Math.max(o[l],o[r]+1);for(let r of s)!i[r].length&&n[r].length&&(o[r]=n[r].reduce((l,a)=>Math.min(l,o[a]),1/0)-1);return o}function rs(e,t){let s=Array.from({length:e},()=>[]),n=s.map(()=>[]);for(let[i,o]of t)s[i].push(o),n[o].push(i);return{next:s,before:n}}function fi(e,t){let{next:s,before:n}=rs(e,t),i=n.map(r=>r.length),o=i.flatMap((r,l)=>r?[]:[l]);for(let r=0;r<o.length;r++)for(let l of s[o[r]])--i[l]===0&&o.push(l);if(o.length<e)throw new Error(`edges run in a circle through node ${i.findIndex(r=>r>0)}: expected none`);return o}function di(e,t,s){let n=[...s].reduce((o,r)=>Math.max(o,e.layer[r]),0),i=t;for(let o=e.layer[t]+1;o<=n;o++){for(let l of s)e.layer[l]===o&&is(e,i,l);if(o===n)return;let r=e.layer.push(o)-1;e.width.push(0),e.height.push(0),e.source.push(t),e.up.push([]),e.down.push([]),is(e,i,r),i=r}}function is(e,t,s){e.down[t].push(s),e.up[s].push(t)}function cs(e){let t=new Array(e.layer.length).fill(0);e.rows.forEach(i=>hs(i,t));let s=e.rows.map(i=>[...i]),n=as(e,t);for(let i=0,o=0;i<10&&o<3&&n;i++){ui(e,t,i%2===0),xi(e,t);let r=as(e,t);o=r<n?0:o+1,r<n&&([s,n]=[e.rows.map(l=>[...l]),r])}e.rows=s}function hs(e,t){e.forEach((s,n)=>{t[s]=n})}function ui(e,t,s){let{rows:n}=e,i=s?e.up:e.down;for(let o=1;o<n.length;o++){let r=s?o:n.length-1-o,l=n[r],a=l.length/n[s?r-1:r+1].length,c=new Map(l.map(h=>[h,i[h].length?(mi(i[h],t)+.5)*a:t[h]+.5]));l.sort((h,f)=>c.get(h)-c.get(f)||t[h]-t[f]),hs(l,t)}}function mi(e,t){let s=0;for(let n of e)s+=t[n];return s/e.length}function xi(e,t){for(let s of e.rows)for(let n=1;n<s.length;n++){let[i,o]=[s[n-1],s[n]];[e.up,e.down].reduce((l,a)=>l+ls(a[i],a[o],t)-ls(a[o],a[i],t),0)<=0||([s[n-1],s[n]]=[o,i],[t[i],t[o]]=[n,n-1])}}function ls(e,t,s){let n=0;for(let i of e)for(let o of t)s[i]>s[o]&&n++;return n}function as(e,t){let s=0;for(let n=1;n<e.rows.length;n++)s+=gi(e,e.rows[n-1],e.rows[n].length,t);return s}function gi(e,t,s,n){let i=new Int32Array(s+1),o=0,r=0;for(let l of t){let a=e.down[l].map(c=>n[c]);for(let c of a){o+=r;for(let h=c+1;h>0;h-=h&-h)o-=i[h]}for(let c of a)for(let h=c+1;h<=s;h+=h&-h)i[h]++;r+=a.length}return o}function ds(e){let{rows:t}=e;e.x=new Array(e.layer.length).fill(0);for(let n of t)wi(e,n);for(let n=0;n<6;n++){let i=n%2?[...t].reverse():t;for(let o of i)yi(e,o,n>=4?[e.up,e.down]:[n%2?e.down:e.up])}ps(e),ps(e);let s=e.x.reduce((n,i,o)=>Math.min(n,i-e.width[o]/2),1/0);e.x=e.x.map(n=>n-s)}function jt(e,t,s){let n=+(t>=e.count)+ +(s>=e.count);return(e.width[t]+e.width[s])/2+[18,12,9][n]}function wi(e,t){let s=0;t.forEach((n,i)=>{e.x[n]=s+=i?jt(e,t[i-1],n):0});for(let n of t)e.x[n]-=s/2}function bi(e,t,s){return[1,2,8][+(t>=e.count)+ +(s>=e.count)]}function yi(e,t,s){let n=[],i=[0];t.forEach((r,l)=>{l&&i.push(i[l-1]+jt(e,t[l-1],r));let[a,c]=vi(e,r,s);for(n.push({sum:(a-i[l])*c,weight:c,count:1});n.length>1&&Vt(n[n.length-2])>Vt(n[n.length-1]);){let h=n.pop(),f=n[n.length-1];f.sum+=h.sum,f.weight+=h.weight,f.count+=h.count}});let o=0;for(let r of n)for(let l=0;l<r.count;l++,o++)e.x[t[o]]=Vt(r)+i[o]}function Vt(e){return e.sum/e.weight}function vi(e,t,s){let n=0,i=0;for(let o of s)for(let r of o[t]){let l=bi(e,t,r);n+=l*e.x[r],i+=l}return i?[n/i,i]:[e.x[t],.1]}function ps(e){let t=new Map(e.rows.flatMap(n=>n.map((i,o)=>[i,o]))),s=e.rows.flat().filter(n=>n>=e.count&&e.up[n][0]<e.count);for(let n of s){let i=-1/0,o=1/0,r=[];for(let l=n;l!==void 0;l=e.down[l].find(a=>a>=e.count)){let[a,c]=ki(e,l,t.get(l));(a>o||c<i)&&(fs(e,r,i,o),[r,i,o]=[[],-1/0,1/0]),r.push(l),[i,o]=[Math.max(i,a),Math.min(o,c)]}fs(e,r,i,o)}}function ki(e,t,s){let n=e.rows[e.layer[t]],i=s?e.x[n[s-1]]+jt(e,n[s-1],t):-1/0,o=s+1<n.length?e.x[n[s+1]]-jt(e,t,n[s+1]):1/0;return[Math.min(i,e.x[t]),Math.max(o,e.x[t])]}function fs(e,t,s,n){if(!t.length)return;let i=e.x[e.up[t[0]][0]],o=t.reduce((l,a)=>l+e.x[a],0)/t.length,r=i>=s&&i<=n?i:Math.max(s,Math.min(n,o));for(let l of t)e.x[l]=r}function ms(e,t){let s=Mi(e),n=e.rows.map(h=>Ti(e,h,s)),i=n.map(h=>Ai([...h.values()])),o=$i(e,i),r=Array.from({length:e.count},(h,f)=>{let d=o[e.layer[f]];return{x:e.x[f]-e.width[f]/2,y:d.top+(d.height-e.height[f])/2}}),l=t.map(([h,f])=>Oi(e,r,n,o,h,f)),a=e.x.reduce((h,f,d)=>Math.max(h,f+e.width[d]/2),0),c=o[o.length-1];return{boxes:r,routes:l,width:a,height:c.top+c.height}}function $i(e,t){let s=0;return e.rows.map((n,i)=>{let o=n.reduce((l,a)=>Math.max(l,e.height[a]),0),r=s;return s+=o+18+6*Math.max(0,t[i]-1),{top:r,height:o}})}function xs(e,t,s){return Math.max(t,Math.min(s,e))}function Jt(e,t){let s=Math.max(0,e.width[t]/2-10);return[e.x[t]-s,e.x[t]+s]}function Mi(e){let t=e.x.map((n,i)=>ji(e,i)),s=e.up.map((n,i)=>Si(e,i,n,t));return{below:t,above:s}}function ji(e,t){let s=e.x[t];if(t>=e.count||!e.down[t].length)return s;let[n,i]=Jt(e,t),r=e.down[t].map(l=>xs(s,...Jt(e,l))).filter(l=>l>=n&&l<=i).sort((l,a)=>Math.abs(l-s)-Math.abs(a-s));return r.length?r[0]:s}function Si(e,t,s,n){let[i,o]=Jt(e,t),r=[...s].sort((c,h)=>n[c]-n[h]||c-h),l=r.length>1?Math.min(9,(o-i)/(r.length-1)):0,a=r.map(c=>xs(n[c],i,o));for(let c=1;c<a.length;c++)a[c]=Math.max(a[c],a[c-1]+l);for(let c=a.length-1,h=o;c>=0;c--,h-=l)a[c]=Math.min(a[c],h);return new Map(r.map((c,h)=>[c,a[h]]))}function Ti(e,t,s){let n=new Map;for(let i of t){if(!e.down[i].length)continue;let o=new Map(e.down[i].map(l=>[l,s.above[l].get(i)??0])),r=[s.below[i],...o.values()];n.set(i,{top:s.below[i],ends:o,low:Math.min(...r),high:Math.max(...r),track:-1})}return n}function Ai(e){let t=e.filter(o=>o.high-o.low>.01),s=t.map(o=>t.reduce((r,l)=>l===o?r:r+us(o,l)-us(l,o),0)),n=t.map((o,r)=>r).sort((o,r)=>s[o]-s[r]||t[o].low-t[r].low||o-r),i=0;return n.forEach((o,r)=>{let l=t[o];l.track=0;for(let a of n.slice(0,r))t[a].low-4<l.high&&l.low<t[a].high+4&&(l.track=Math.max(l.track,t[a].track+1));i=Math.max(i,l.track+1)}),i}function us(e,t){if(e.low>t.high||t.low>e.high)return 0;let s=t.top>e.low&&t.top<e.high?1:0;for(let n of e.ends.values())n>t.low&&n<t.high&&(s+=1),Math.abs(n-t.top)<2&&(s+=20);return s}function Oi(e,t,s,n,i,o){let r=[o];for(let a=o;a!==i;r.push(a))a=e.up[a].find(c=>e.source[c]===i)??i;r.reverse();let l=[];for(let a=0;a+1<r.length;a++){let c=e.layer[r[a]],h=s[c].get(r[a]),f=n[c],d=h.ends.get(r[a+1])??0;if(a===0&&l.push([h.top,t[i].y+e.height[i]]),Math.abs(d-h.top)<.01)continue;let u=f.top+f.height+9+6*h.track;l.push([h.top,u],[d,u])}return l.push([l[l.length-1][0],t[o].y]),l}var gs=22,Ei=1200;function ws(e,t={}){Ci(e);let s=Li(e).map(n=>zi(e,n));return _i(e,s,t.width??Ei)}function Ci({nodes:e,edges:t}){let s=t.find(([n,i])=>n===i||!(n in e)||!(i in e));if(s)throw new Error(`edge ${s.join(" -> ")}: expected two different nodes of 0 to ${e.length-1}`)}function Li({nodes:e,edges:t}){let s=e.map((r,l)=>l),n=r=>{for(;s[r]!==r;)r=s[r]=s[s[r]];return r};for(let[r,l]of t){let[a,c]=[n(r),n(l)];s[Math.max(a,c)]=Math.min(a,c)}let i=new Map;e.forEach((r,l)=>{let a=i.get(n(l));a?a.push(l):i.set(n(l),[l])});let o=[...i.values()];return[...o.filter(r=>r.length>1),...o.filter(r=>r.length===1)]}function zi(e,t){let s=new Map(t.map((r,l)=>[r,l])),n=[];e.edges.forEach(([r],l)=>s.has(r)&&n.push(l));let i=n.map(r=>e.edges[r].map(l=>s.get(l))),o=os(t.map(r=>e.nodes[r]),i);return cs(o),ds(o),{members:t,numbers:n,...ms(o,i)}}function _i(e,t,s){let n={width:0,height:0,boxes:e.nodes.map(l=>({x:0,y:0,...l})),routes:e.edges.map(()=>[])},i=0,o=0,r=0;for(let l of t)i&&i+l.width>s&&([i,o,r]=[0,o+r+gs,0]),l.members.forEach((a,c)=>Object.assign(n.boxes[a],{x:i+l.boxes[c].x,y:o+l.boxes[c].y})),l.numbers.forEach((a,c)=>{n.routes[a]=l.routes[c].map(([h,f])=>[i+h,o+f])}),r=Math.max(r,l.height),n.width=Math.max(n.width,i+l.width),n.height=Math.max(n.height,o+r),i+=l.width+gs;return n}var Zt=14;function nt(e){let t=p("div",{class:"floating","aria-hidden":"true",hidden:!0});return{show(s,n,i){let o=e.closest(".frame");if(!o||!s.length)return;t.parentNode!==o&&o.append(t),t.replaceChildren(...s.map((d,u)=>p(u?"p":"b",{},p("bdi",{},d)))),t.hidden=!1;let r=o.getBoundingClientRect(),{offsetWidth:l,offsetHeight:a}=t,c=Math.max(4,Math.min(n-r.left+Zt,r.width-l-4)),h=i-r.top+Zt,f=h+a+4>r.height?i-r.top-a-Zt:h;t.style.left=`${c}px`,t.style.top=`${Math.max(4,f)}px`},hide(){t.hidden=!0}}}var Bi={title:"600 11px system-ui, sans-serif",name:"10px ui-monospace, monospace",arg:"italic 10px system-ui, sans-serif"},bs=13,Qt=7,Ni=210;function ys(e,t){let s=document.createElement("canvas").getContext("2d"),n=e.kernels.map((c,h)=>({lines:Pi(c,t),kernel:h,stub:-1})),i=e.stubs.map((c,h)=>({lines:Ri(c),kernel:-1,stub:h})),o=[...n,...i].map(c=>({...c,lines:c.lines.map(h=>({kind:h.kind,words:Di(s,h,Ni-2*Qt)}))})),r=o.map(c=>({width:Math.ceil(Math.max(44,...c.lines.map(h=>vs(s,h))))+2*Qt,height:c.lines.length*bs+8})),l=e.stubs.flatMap((c,h)=>c.kernels.map(f=>c.isIn?[n.length+h,f]:[f,n.length+h])),a=[...e.edges,...l];return{nodes:o,edges:a,picture:ws({nodes:r,edges:a},{width:900})}}function Pi(e,t){let s=e.args.length>1?`\u2190 ${e.args[0]} +${e.args.length-1}`:`\u2190 ${e.args[0]}`;return[{kind:"title",words:e.matmuls&&e.collective<0?`\xD7 ${st(e,t)}`:st(e,t)},{kind:"name",words:e.bytes<0?e.name:`${e.name} ${k(e.bytes)}`},...e.args.length?[{kind:"arg",words:s}]:[]]}function Ri(e){return[{kind:"arg",words:`${e.isIn?"from":"to"} ${e.words}`},{kind:"name",words:k(e.bytes)}]}function vs(e,t){return e?(e.font=Bi[t.kind],e.measureText(t.words).width):t.words.length*6.2}function Di(e,t,s){let n=[...t.words].slice(0,200),i=n.length,o=t.words.length>200?n.join(""):t.words;for(;i>4&&vs(e,{kind:t.kind,words:o})>s;){i-=1;let r=n.slice(0,Math.ceil(i*.45)).join(""),l=n.slice(n.length-Math.floor(i*.55)).join("");o=`${r}\u2026${l}`}return o}function ks(e,t,s,n){let i=new te(e,t,s,n);return{element:i.svg,update:()=>i.update(),focus:()=>i.nodes[Math.max(0,i.current)]?.focus({preventScroll:!0}),reveal:()=>i.current>=0&&ut(i.nodes[i.current])}}var te=class{constructor(t,s,n,i){this.store=t,this.content=s,this.dag=n,this.moves=i,this.data=t.data,this.current=-1;let{picture:o}=n,r=Math.max(1,...s.kernels.map(h=>h.bytes));this.edges=n.edges.map(([h],f)=>j("g",{class:"edge"},this.edge(o.routes[f],this.weight(h,r)))),this.nodes=n.nodes.map((h,f)=>this.node(h,o.boxes[f],f));let l=12,a=o.width+2*l,c=o.height+2*l;this.wires=j("g",{class:"wires"},this.edges),this.svg=j("svg",{class:"dag",role:"listbox","aria-label":`Kernels of ${s.title}: arrows walk along the graph`,viewBox:`${-l} ${-l} ${a} ${c}`,width:a,height:c,style:{"--dag-width":`${a}px`}},this.wires,this.nodes),this.svg.addEventListener("keydown",h=>this.key(h)),this.tip=nt(this.svg)}weight(t,s){let n=this.content.kernels[t]?.bytes??this.content.stubs[t-this.content.kernels.length].bytes;return 1+1.5*Math.max(0,Math.min(1,1+Math.log2(Math.max(1,n)/s)/12))}edge(t,s){let[n,i]=t[t.length-1];return[j("polyline",{points:t.map(o=>o.join(",")).join(" "),"stroke-width":s.toFixed(2)}),j("path",{class:"tip",d:`M${n-3.5} ${i-5.5}h7L${n} ${i}z`})]}node(t,s,n){let i=this.content.kernels[t.kernel],o=i?pt(i,this.data):null,r=i?Mt(i,this.data):this.stubLines(t.stub),l=i?o?`move ${M(o.axes,this.store.first.axes)}`:i.matmuls?"matmul":"plain":"stub";return j("g",{class:`kernel ${l}${i?.mixes.length?" mixed":""}`,role:"option",tabindex:n?-1:0,"aria-label":r.join("; "),"aria-selected":"false",transform:`translate(${s.x} ${s.y})`,onclick:()=>this.choose(n,!0),onpointermove:c=>this.tip.show(r,c.clientX,c.clientY),onpointerleave:()=>this.tip.hide()},j("rect",{width:s.width,height:s.height,rx:o?9:3}),l==="matmul"?j("rect",{class:"side",width:3,height:s.height}):null,t.lines.map((c,h)=>j("text",{class:c.kind,x:Qt,y:4+bs*(h+.78)},c.words)))}stubLines(t){let s=this.content.stubs[t];return[`${s.isIn?"from":"to"} ${s.words}`,`${k(s.bytes)} of distinct values (counted)`,...s.more.slice(0,12),s.box>=0?"Enter or click opens it":""].filter(Boolean)}choose(t,s){let n=this.dag.nodes[t],i=this.content.stubs[n.stub];if(this.tip.hide(),i&&s&&i.box>=0)return this.moves.show(i.box);this.current=t,this.nodes[t].focus({preventScroll:!0}),ut(this.nodes[t]),i||ft(this.store,this.content.kernels[n.kernel]),this.mark()}update(){let t=s=>{let n=this.content.kernels[this.dag.nodes[s]?.kernel];return!!n&&dt(this.store,n)};(this.current<0||!t(this.current))&&(this.current=this.dag.nodes.findIndex((s,n)=>t(n))),this.mark()}mark(){let{dag:t,current:s,store:n}=this,i=new Set;t.edges.forEach(([o,r],l)=>{let a=s>=0&&(o===s||r===s);a&&i.add(o).add(r),this.edges[l].classList.toggle("lit",a),a&&this.wires.append(this.edges[l])}),this.svg.classList.toggle("chosen",s>=0),this.nodes.forEach((o,r)=>{let l=this.content.kernels[t.nodes[r].kernel],a=r===s||!!(l&&dt(n,l));o.setAttribute("aria-selected",String(a)),o.classList.toggle("near",i.has(r)&&r!==s),o.setAttribute("tabindex",r===Math.max(0,s)?"0":"-1")})}key(t){let s=this.nodes.findIndex(o=>o===t.target),n=this.nodes.length;if(s<0||t.ctrlKey||t.metaKey||t.altKey)return;let i={Home:0,End:n-1,Enter:s," ":s,ArrowDown:this.toward(s,0,1),ArrowUp:this.toward(s,0,-1),ArrowRight:this.toward(s,1,0),ArrowLeft:this.toward(s,-1,0)}[t.key];i!==void 0&&(t.preventDefault(),t.stopPropagation(),this.choose(i,i===s&&(t.key==="Enter"||t.key===" ")))}toward(t,s,n){let{boxes:i}=this.dag.picture,o=f=>[f.x+f.width/2,f.y+f.height/2],[r,l]=o(i[t]),a=new Set(this.dag.edges.flatMap(([f,d])=>n>0&&f===t?[d]:n<0&&d===t?[f]:[])),c=t,h=1/0;return i.forEach((f,d)=>{let[u,m]=o(f),x=(u-r)*s+(m-l)*n,g=Math.abs((u-r)*n)+Math.abs((m-l)*s);if(d===t||x<=1||s&&g>f.height+i[t].height)return;let w=x+2*g-(a.has(d)?1e5:0);w<h&&([c,h]=[d,w])}),c}};var $s=300;function js(e,t,s){let n=e.data,i=$s,o=[],r=p("div",{class:`boxrows${t.kernels.some(d=>d.args.length)?"":" noargs"}`,role:"listbox","aria-label":`Kernels of ${t.title}`,onkeydown:d=>{let u=o.indexOf(d.target),m=d.key==="Enter"||d.key===" "?u:G(d,u,o.length);m===null||u<0||(d.preventDefault(),d.stopPropagation(),o[m].focus(),ft(e,t.kernels[m]))}}),l=()=>o.forEach((d,u)=>d.setAttribute("aria-selected",String(dt(e,t.kernels[u])))),a=()=>{o=t.kernels.slice(0,i).map((d,u)=>Ii(e,n,d,u)),r.replaceChildren(...o),l(),c.hidden=t.kernels.length<=i,c.textContent=`${b(t.kernels.length-i)} more`},c=p("button",{type:"button",class:"more",onclick:()=>{i+=$s*4,a()}});a();let h=p("div",{class:"boxlist"},Ms(t,s,!0),r,c,Ms(t,s,!1)),f=()=>o.find(d=>d.getAttribute("aria-selected")==="true");return{element:h,update:l,focus:()=>(f()??o[0])?.focus({preventScroll:!0}),reveal:()=>{let d=f();d&&ut(d)}}}function Ii(e,t,s,n){let i=pt(s,t),o=i?t.header.collectives[t.column("graph.collective.row")[s.collective]].kind:"kernel",r=s.args.length?`\u2190 ${s.args.slice(0,3).join(", ")}${s.args.length>3?` +${s.args.length-3}`:""}`:"";return p("div",{class:`boxrow ${i?M(i.axes,e.first.axes):"ax-none"}${s.mixes.length?" mixed":""}`,role:"option",tabindex:n?-1:0,title:Mt(s,t).join(`
`),onclick:()=>ft(e,s)},P(o),p("span",{class:"name"},p("bdi",{},`${s.matmuls&&!i?"\xD7 ":""}${st(s,t)}`)),p("span",{class:"code dim name"},p("bdi",{},s.name)),p("span",{class:"dim name args"},r?p("bdi",{},r):null),p("span",{class:"size"},s.bytes<0?"":k(s.bytes)))}function Ms(e,t,s){let n=e.stubs.filter(i=>i.isIn===s);return n.length?p("p",{class:"boxstubs dim"},s?"from ":"to ",n.flatMap((i,o)=>{let r=`${i.words} ${k(i.bytes)}`,l=i.box<0?p("span",{title:i.more.join(`
`)},r):p("button",{type:"button",class:"link",onclick:()=>t.show(i.box)},r);return[o?" \xB7 ":"",l]})):null}var Wi=1600,Fi=160,Hi=1.8,Ss=new WeakMap;function As(e,t,s,n=()=>{}){let{data:i}=e;if(!i||i.header.graph?.missing)return()=>{};Ss.get(s)?.();let o=s.getRootNode().activeElement,r=p("section",{class:"boxpane",role:"region"}),l=()=>{a(),r.isConnected&&(r.remove(),n(-1),o?.isConnected&&o.focus({preventScroll:!0}))},a=()=>{},c=h=>{a(),a=Ui(e,r,h,{close:l,show:c}),n(h)};return r.addEventListener("keydown",h=>{h.key==="Escape"&&(h.stopPropagation(),h.preventDefault(),l())}),s.append(r),Ss.set(s,l),c(t),l}function Ui(e,t,s,n){let i=e.data,o=es(i,s),r=o.kernels.length>Fi||o.isList?null:ys(o,i),l=r!==null&&r.picture.width<=Wi,a=!l||r.picture.width>Hi*t.clientWidth,c=()=>{},h=p("div",{class:"boxbody"}),f=l?p("button",{type:"button",class:"button",onclick:()=>{a=!a,u(!0)}},"As list"):null,d=r&&!l?"Too wide to draw: a list.":o.isList?"Most kernels here are not connected: a list.":l?"":"Too many kernels to draw: a list.",u=m=>{c(),f&&(f.textContent=a?"As graph":"As list");let x=a||!r?js(e,o,n):ks(e,o,r,n);h.replaceChildren(x.element),x.update(),c=Ki(e,x.update),m||x.focus(),h.scrollLeft=(h.scrollWidth-h.clientWidth)/2,x.reveal()};return t.setAttribute("aria-label",`Inside ${o.title}`),t.replaceChildren(p("header",{class:"boxhead"},p("h3",{class:"boxtitle"},p("bdi",{},o.title)),p("div",{class:"boxbuttons"},f,p("button",{type:"button",class:"button","aria-label":"Close (Escape)",title:"Close (Escape)",onclick:n.close},"\xD7 Close")),p("p",{class:"dim boxfacts"},`${o.facts.join(" \xB7 ")}. Attribution of kernels to boxes is modelled. ${d}`)),h),u(!1),()=>c()}var Ts=new WeakMap;function Ki(e,t){let s=Ts.get(e);if(!s){let i=s={update:t};Ts.set(e,i),e.listen(o=>o.has("selection")&&i.update())}let n=s;return n.update=t,()=>{n.update===t&&(n.update=()=>{})}}var qi={"all-gather":"AG","all-reduce":"AR","reduce-scatter":"RS","all-to-all":"A2A","collective-permute":"perm","collective-broadcast":"bcast","ragged-all-to-all":"RA2A"},Xi={"collective-permute":"permute","collective-broadcast":"broadcast","ragged-all-to-all":"ragged a2a"},Tt=e=>qi[e]??e,St=class{constructor(t,s){this.graph=t,this.sets=s,this.mode="phase"}axes(t){let s=this.sets[t];return s.words==="axis unknown"?"":s.words}kind(t){let s=this.graph.header.kinds[t];return Xi[s]??s}phase(t){return this.graph.header.is_differentiated?this.graph.phases[t]:"program"}cell(t){let{graph:s}=this,n=t.row?s.path(t.row):"the whole program";return s.header.is_differentiated?`${this.phase(t.phase)} \xB7 ${n}`:n}heads(t){let s=S(t.kernels,"kernel");return t.matmuls?[`${s} \xB7 ${t.matmuls} matmul`,s,b(t.kernels)]:[s,b(t.kernels)]}right(t){return this.mode==="time"?t.time<0?"":W(t.time):t.iterations>1?`per trip, \xD7${b(t.iterations)}`:t.iterations<0?"per trip":this.mode==="bytes"?t.bytes?k(t.bytes):"":t.matmuls&&t.flops>0?tt(t.flops):""}rights(t){let s=this.right(t);return t.iterations===1||this.mode==="time"?[s]:[s,"per trip","\u21BB"]}line({type:t,of:s}){if(t==="more")return{words:[`${S(s,"more difference")}`],figure:""};let n=this.kind(s.kind),i=Tt(this.graph.header.kinds[s.kind]),o=this.axes(s.axes);if(t==="move"){let c=`${b(s.count)}\xD7`,h=`${s.count>1?`${c} `:""}${i} ${o.replace(/ \u00d7 /g,"\xD7")}`;return{words:[`${c} ${n}  ${o}`,`${c} ${i} ${o}`,h],figure:k(s.bytes)}}if(t==="share")return{words:[`in a combined ${n} ${o}`,`in combined ${i} ${o}`,`in ${i} ${o}`],figure:k(s.bytes)};let r=s.members.length>2?`${s.members.length} others`:s.members.map(c=>this.graph.label(c)).join(", "),l=s.members.length>2?r:r.replace(/[^\d, ]+/g,"")||r,a=s.count?`${s.count>0?"+":"\u2212"}${Math.abs(s.count)} `:"";return{words:[`${r}: ${a}${n} ${o}`,`${r}: ${a}${i} ${o}`,`${l}: ${a}${i} ${o}`],figure:`${s.bytes<0?"\u2212":"+"}${k(Math.abs(s.bytes))}`}}fullLine(t){let{words:s,figure:n}=this.line(t);return[s[0].replace(/\s+/g," "),n].filter(Boolean).join(" ")}flow(t){return t.bytes?t.outside&&t.members>1?`${k(t.bytes)} \xD7${t.members}`:k(t.bytes):t.members===1?`${k(t.total)} ${this.graph.label(t.member)}`:`${k(t.total)} in all`}flowWays(t){let s=t.bytes||t.total,n=t.bytes&&t.outside&&t.members>1?` \xD7${t.members}`:"",i=_e(s);return[this.flow(t),i+n,i,i.replace(/ (.).*/,"$1")]}fold(t){let{graph:s}=this,n=s.members[t],i=s.fold.shown[t],o=this._start(t),r=n.map((h,f)=>[h,s.fold.likeness[o+f]]).filter(([h,f])=>h!==i&&f<1),l=n.length-r.length,a=r.length<=2?r.map(([h,f])=>`${s.label(h)} ${Wt(f)}`).join(", "):`${r.length} others ${Wt(Math.min(...r.map(([,h])=>h)))} or more`,c=r.length?`${l>1?`${l} identical; `:""}${a} alike`:"all identical";return{name:s.words["fold.labels"](t),times:`\xD7${n.length}`,alike:c,shown:`shown: ${s.label(i)}`}}_start(t){return this.graph.members.slice(0,t).reduce((s,n)=>s+n.length,0)}row(t,s){let{graph:n}=this;return t.row<0||s?this.fold(t.fold).name:t.row===0?"the whole program":n.kind(t.row)==="loop"?`${n.label(t.row)}${this.trips(t.row)}`:n.label(t.row)}trips(t){let s=this.graph.row.trips[t];return s<0?", trips unknown":` \xD7${b(s)}`}box(t,s){let n=[this.heads(t)[0],this.right(t)].filter(Boolean).join(", ");return[`${this.phase(t.phase)}: ${n}`,...s.map(i=>this.fullLine(i))].join("; ")}};function Os(e,t){let s=[];for(let n of e.view.items){let i=n.fold>=0&&e.view.isClosed[n.fold]===1,o="  ".repeat(n.depth),r=i?` ${t.fold(n.fold).times} (${t.fold(n.fold).shown})`:"";s.push(`${o}${t.row(n,i)}${r}`);for(let l of e.boxes){if(n.row<0||l.cell.row!==n.row)continue;let a=[t.heads(l.cell)[0],t.right(l.cell)].filter(Boolean).join(", ");s.push(`${o}  ${t.phase(l.cell.phase)}: ${a}`);for(let c of l.lines)s.push(`${o}    ${t.fullLine(c)}`)}}return s.join(`
`)}var Gi=[["phase","phase"],["axis","mesh axis"],["sharding","sharding"],["bytes","bytes written"],["flops","FLOPs"],["time","time"]],Yi=["text","dim","line","rule","bg","panel","picked","strong","select","band","flow","in","out","heat"],Vi=["ax-0","ax-1","ax-2","ax-3","ax-many","ax-none"];function Cs(e,t){return Gi.filter(([s])=>(s!=="sharding"||t)&&(s!=="time"||e.header.measured))}function Ls(e){let t=getComputedStyle(e),s=[...Yi,...Vi,...[0,1,2,3].flatMap(n=>[`ph-${n}`,`ph-${n}-fill`])];return Object.fromEntries(s.map(n=>[n,t.getPropertyValue(`--${n}`).trim()||t.color]))}function Ji(e,t,s){let[n]=e.cell.moves;return n?M(t[n.axes].axes,s):""}function Zi(e,t,s){let n=e.cell.boxes.map(i=>t?.get(i)).filter(i=>i!==void 0);return n.length?M(n[0],s):""}function zs(e,t,s,{sets:n,all:i,shardings:o}){if(e==="axis"||e==="sharding")return r=>{let l=e==="axis"?Ji(r,n,i):Zi(r,o,i);return l?[Es(s,s[l],.2),s[l]]:[s.bg,s.line]};if(e==="bytes"||e==="flops"||e==="time"){let r=Math.max(1,...t.boxes.map(l=>l.cell[e]));return l=>[l.cell[e]>0?Es(s,s.heat,.06+.5*Math.sqrt(l.cell[e]/r)):s.bg,s.line]}return({cell:r})=>[s[`ph-${r.phase}-fill`],s[`ph-${r.phase}`]]}function Es(e,t,s){let[n,i]=[e.bg,t].map(Qi);return!n||!i?t:`rgb(${n.map((o,r)=>Math.round(o+(i[r]-o)*s)).join(" ")})`}function Qi(e){let t=e.match(/^#([0-9a-f]{3}|[0-9a-f]{6})$/i)?.[1];return t?t.length===3?[...t].map(s=>parseInt(s+s,16)):[0,2,4].map(s=>parseInt(t.slice(s,s+2),16)):e.match(/^rgba?\(([^)]*)\)/)?.[1].split(/[\s,/]+/).slice(0,3).map(Number)??null}function to(e,t){let s=e,n=Math.max(0,...t.boxes.map(o=>o.cell[s])),i=t.boxes.some(o=>o.cell.slowest>=0);return e==="time"?`most: ${W(n)} per call (measured, slowest device${i?", slowest of equal layers":""})`:e==="bytes"?`most: ${k(n)}`:"most FLOPs"}function _s(e,t,s,n,i){let o=(f,d,u="")=>p("span",{class:"key"},p("i",{class:`swatch ${u}`,style:{"--c":f}}),d),l=[...new Set(s.boxes.flatMap(f=>f.cell.moves.map(d=>d.axes)))].map(f=>o(`var(--${M(n[f].axes,i)})`,n[f].words,"bar")),a=s.short?[...new Set(s.boxes.flatMap(f=>f.cell.moves.map(d=>t.header.kinds[d.kind])))].filter(f=>Tt(f)!==f).map(f=>`${Tt(f)} ${f}`):[],c=`${t.header.measured}. The profiler slows the program; a collective's time includes waiting.`;return[...e==="phase"?[]:e==="axis"?[p("span",{class:"key"},"box: the axis with most bytes")]:e==="sharding"?[p("span",{class:"key"},"box: what most bytes of the values on its lines are split over (modelled)"),o("var(--ax-none)","whole"),o("var(--ax-many)","several axes"),...i.map(f=>o(`var(--${M([f],i)})`,f))]:[p("span",{title:e==="time"?c:void 0},o("var(--heat)",to(e,s)))],...e==="sharding"?[]:l,...a.length?[p("span",{class:"key"},a.join(", "))]:[]]}var Bs=0;var mt=2,it=3,ee=class{constructor(t){let s=i=>t.column(`graph.${i}`),n=(i,o)=>Object.fromEntries(o.map(r=>[r,s(`${i}.${r}`)]));this.header=t.header.graph,this.phases=this.header.phases,this.columns=this.header.columns,this.row=n("row",["parent","kind","trips","fold","shown_as"]),this.box=n("box",["row","phase","kernels","inferred","matmuls","flops","flops_per_call","iterations","bytes","is_list"]),this.boxTime=this.header.measured?s("box.time"):new Float64Array(0),this.move=n("move",["kind","axes","runs","bytes","ends"]),this.mention=n("mention",["collective","operands","bytes","ends"]),this.collective=n("collective",["row","box","kernel","bytes"]),this.kernel=n("kernel",["opcode","label","box","how","loop","runs","bytes","matmuls","flops","spot","entity","line"]),this.mix=n("mix",["kernel","row","phase","instructions"]),this.read=n("read",["ends","source","operand","element","carried","bytes"]),this.arrow=n("arrow",["source","target","values","bytes","carried"]),this.fold=n("fold",["shown","likeness","essential"]),this.sizes=s("sizes"),this._lists={children:["row.children","row.children.ends"],members:["fold.members","fold.members.ends"],numbers:["move.collectives","move.collectives.ends"]},this._columns=Object.fromEntries(Object.entries(this._lists).map(([i,o])=>[i,o.map(s)])),this.words=Object.fromEntries(["row.labels","row.holds","fold.labels","kernel.names","opcodes","labels","arguments"].map(i=>[i,eo(t.strings(`graph.${i}`))])),this.rows=this.row.parent.length,this.boxes=this.box.row.length,this.kernels=this.kernel.box.length,this.folds=this.fold.shown.length,this.children=this._all("children",this.rows),this.members=this._all("members",this.folds),this._place=new Map(this.members.flatMap(i=>i.map((o,r)=>[o,r]))),this._kernels=null}_all(t,s){let[n,i]=this._columns[t];return Array.from({length:s},(o,r)=>[...n.subarray(...A(i,r))])}label(t){return this.words["row.labels"](t)}path(t){let s=[];for(let n=t;n>0;n=this.row.parent[n])s.unshift(this.label(n));return s.join(" / ")||this.label(t)}kind(t){return this.header.row_kinds[this.row.kind[t]]}place(t){return this._place.get(t)??-1}collectives(t){let[s,n]=this._columns.numbers;return s.subarray(...A(n,t))}kernelsOf(t){if(!this._kernels){this._kernels=Array.from({length:this.boxes},()=>[]);for(let s=0;s<this.kernels;s++)this._kernels[this.kernel.box[s]]?.push(s)}return this._kernels[t]}};function eo(e){let t=[];return s=>t[s]??=e.at(s)}function Ns(e){return!e?.header.graph||e.header.graph.missing?null:new ee(e)}var so=6;function Ps(e,t,{flows:s=!0}={}){let{stand:n,vis:i,isClosed:o}=no(e,t),r=ro(e,n,i,o);fo(e,r,n,i,o),xo(e,r,n,i);let a={items:oo(e,t,o),cells:r,flows:[],stand:n,vis:i,isClosed:o};return s&&(a.flows=go(e,a)),a}var O=(e,t)=>e*4+t;function no(e,t){let{parent:s,fold:n,shown_as:i}=e.row,o=new Int32Array(e.rows),r=new Int32Array(e.rows),l=new Uint8Array(e.folds),a=new Map,c=f=>n[f]>=0&&l[n[f]]?e.fold.shown[n[f]]:f,h=(f,d)=>{a.has(d)||a.set(d,new Map([...e.children[d]].reverse().map(m=>[i[m],m])));let u=a.get(d)?.get(i[f]);return u===void 0?io(e,d,c):c(u)};for(let f=1;f<e.rows;f++){let d=s[f],u=r[d]===d&&t.open.has(d);o[d]!==d?o[f]=u||t.open.has(o[d])?h(f,o[d]):o[d]:(n[f]>=0&&u&&!t.unfolded.has(n[f])&&(l[n[f]]=1),o[f]=c(f)),r[f]=u?f:r[d]}return{stand:o,vis:r,isClosed:l}}function io(e,t,s){let n=t;for(;e.children[n].length;)n=s(e.children[n][0]);return n}function oo(e,t,s){let n=[],i=(r,l)=>{let a=t.open.has(r)&&e.children[r].length>0,c={row:r,fold:e.row.fold[r],depth:l,isOpen:a,isUnfolded:!1,count:0},h=n.push(c);a&&o(r,l+1),c.count=n.length-h},o=(r,l)=>{let a=new Set;for(let c of e.children[r]){let h=e.row.fold[c];if(h<0)i(c,l);else if(!a.has(h)){if(a.add(h),s[h]){i(e.fold.shown[h],l);continue}let f={row:-1,fold:h,depth:l,isOpen:!0,isUnfolded:!0,count:0},d=n.push(f);e.members[h].forEach(u=>i(u,l+1)),f.count=n.length-d}}};return o(0,0),n.length||n.push({row:0,fold:-1,depth:0,isOpen:!1,isUnfolded:!1,count:0}),n}function ro(e,t,s,n){let{box:i}=e,o=new Map,r=ao(e,n);for(let l=0;l<e.boxes;l++){let a=i.row[l],c=i.phase[l];if(t[a]!==a)continue;let h=O(s[a],c),f=o.get(h),d=f??{row:s[a],phase:c,boxes:[],times:r[a],kernels:0,inferred:0,matmuls:0,flops:0,iterations:i.iterations[l],bytes:0,time:-1,slowest:-1,moves:[],shares:[],differences:[],parts:[]};f||o.set(h,d),d.boxes.push(l),d.kernels+=i.kernels[l],d.inferred+=i.inferred[l],d.matmuls+=i.matmuls[l],d.flops=d.flops<0||i.flops[l]<0?-1:d.flops+i.flops[l],d.bytes+=i.bytes[l],d.iterations!==i.iterations[l]&&(d.iterations=i.iterations[l]===1||d.iterations===1?1:-1),co(e,d,l),ho(e,d,l)}for(let l of o.values())l.moves.sort((a,c)=>c.bytes-a.bytes),l.shares=l.shares.filter(a=>a.collectives.some(c=>!l.boxes.includes(e.collective.box[c]))),l.shares.sort((a,c)=>c.bytes-a.bytes);return e.boxTime.length&&lo(e,t,s,n,o),o}function lo(e,t,s,n,i){let o=new Int32Array(e.rows).fill(-1);for(let l=1;l<e.rows;l++){let a=e.row.fold[l];o[l]=a>=0&&n[a]?l:o[e.row.parent[l]]}let r=new Map;for(let l=0;l<e.boxes;l++){let a=e.box.row[l],c=i.get(O(s[t[a]],e.box.phase[l]));if(!c||e.boxTime[l]<0)continue;let h=`${c.row} ${c.phase} ${o[a]}`,f=(r.get(h)??0)+e.boxTime[l];r.set(h,f),(f>c.time||c.slowest===o[a])&&([c.time,c.slowest]=[f,o[a]])}}function ao(e,t){let s=new Int32Array(e.rows).fill(1);for(let n=1;n<e.rows;n++){let i=e.row.fold[n];s[n]=s[e.row.parent[n]]*(i>=0&&t[i]?e.members[i].length:1)}return s}function Rs(e,t,s){let n=e.find(i=>i.kind===t&&i.axes===s);return n||e.push(n={kind:t,axes:s,count:0,bytes:0,runs:0,collectives:[]}),n}function co(e,t,s){let[n,i]=A(e.move.ends,s);for(let o=n;o<i;o++){let r=Rs(t.moves,e.move.kind[o],e.move.axes[o]),l=e.collectives(o);r.count+=l.length,r.bytes+=e.move.bytes[o],r.runs=r.runs<0||e.move.runs[o]<0?-1:r.runs+e.move.runs[o],r.collectives.push(...l)}}function ho(e,t,s){let[n,i]=A(e.mention.ends,s);for(let o=n;o<i;o++){let r=e.mention.collective[o],l=po(e,r);if(l<0)continue;let a=Rs(t.shares,e.move.kind[l],e.move.axes[l]);a.collectives.includes(r)||a.collectives.push(r),a.count=a.collectives.length,a.bytes+=e.mention.bytes[o]}}function po(e,t){let[s,n]=A(e.move.ends,e.collective.box[t]);for(let i=s;i<n;i++)if(e.collectives(i).includes(t))return i;return-1}function fo(e,t,s,n,i){for(let[o,r]of mo(e,s,n,i)){let l=e.fold.shown[o],a=r.get(l)??new Map;for(let c of e.members[o]){if(c===l)continue;let h=r.get(c)??new Map;for(let f of new Set([...a.keys(),...h.keys()])){let[d,u]=h.get(f)??[0,0],[m,x]=a.get(f)??[0,0];if(d===m&&u===x)continue;let[g,w,y]=f.split(",").map(Number);uo(t.get(g),c,w,y,d-m,u-x)}}}}function uo(e,t,s,n,i,o){if(!e)return;let r=e.differences.find(l=>l.kind===s&&l.axes===n&&l.count===i&&l.bytes===o);r?r.members.push(t):e.differences.push({members:[t],kind:s,axes:n,count:i,bytes:o})}function mo(e,t,s,n){let i=new Map;for(let o=0;o<e.folds;o++)n[o]&&i.set(o,new Map);for(let o=0;o<e.boxes;o++){let[r,l]=A(e.move.ends,o);for(let a=r<l?e.box.row[o]:-1;a>0;a=e.row.parent[a]){let c=i.get(e.row.fold[a]);if(!c)continue;c.has(a)||c.set(a,new Map);let h=c.get(a),f=O(s[t[e.box.row[o]]],e.box.phase[o]);for(let d=r;d<l;d++){let u=`${f},${e.move.kind[d]},${e.move.axes[d]}`,m=h.get(u)??[0,0];h.set(u,[m[0]+e.collectives(d).length,m[1]+e.move.bytes[d]])}}}return i}function xo(e,t,s,n){let{kernel:i,row:o,phase:r,instructions:l}=e.mix;for(let a=0;a<i.length;a++){let c=e.kernel.box[i[a]],h=e.box.row[c];if(s[h]!==h)continue;let f=O(n[h],e.box.phase[c]),d=O(n[s[o[a]]],r[a]);if(f===d)continue;let u=[i[a],o[a],r[a],l[a]];t.get(f)?.parts.push(u),t.get(d)?.parts.push(u)}}function go(e,{cells:t,items:s,stand:n,vis:i,isClosed:o}){let{source:r,target:l,bytes:a}=e.arrow,c=bo(e,o),h=vo(e,c),f=Int32Array.from(e.box.row,(w,y)=>O(i[n[w]],e.box.phase[y])),d=e.rows*4+4,u=e.folds+2,m=new Map;for(let w=0;w<r.length;w++){let y=f[r[w]],T=f[l[w]],v=e.box.row[r[w]],$=e.box.row[l[w]],{step:I,crossed:q}=h(v,$,e.box.phase[r[w]],e.box.phase[l[w]]);if(y===T&&I===ne)continue;let X=((y*d+T)*3+I)*u+q+1,Z=m.get(X);if(!Z){let[wt,Ae]=[t.get(y),t.get(T)];if(!wt||!Ae)continue;m.set(X,Z={flow:{source:wt,target:Ae,relation:"",bytes:0,total:0,members:0,member:-1,times:1,crossed:q,outside:!1},own:0,leaving:0,entering:0,step:I,seen:new Set})}wo(Z,a[w],n[v]===v,n[$]===$,c,v,$)}let x=ko(s,t),g=[...m.values()].map(w=>$o(e,w,x,o));return To(g.sort((w,y)=>y.total-w.total))}function wo(e,t,s,n,i,o,r){let l=i.ids[o],a=i.ids[r];e.flow.total+=t,s&&n&&(e.own+=t),s&&(e.leaving+=t),n&&(e.entering+=t),e.seen.add(l*i.rows.length+a),e.flow.outside=i.rows[l].length!==i.rows[a].length;let c=i.rows[a].length?i.rows[a]:i.rows[l];c.length&&(e.flow.member=c[c.length-1])}function bo(e,t){let s=new Int32Array(e.rows),n=[[]];for(let i=1;i<e.rows;i++){let o=s[e.row.parent[i]];s[i]=e.row.fold[i]>=0&&yo(e,i,t)?n.push([...n[o],i])-1:o}return{ids:s,rows:n}}function yo(e,t,s){let n=e.row.fold[t],i=e.row.fold[e.row.shown_as[t]];return!!(s[n]||i>=0&&s[i])}var ne=0,se=1,Ds=2;function vo(e,t){let s=new Map,n=(i,o)=>{let r=i.findIndex((l,a)=>l!==o[a]);return r<0||r>=o.length||e.row.fold[i[r]]!==e.row.fold[o[r]]?{fold:-1,onward:0}:{fold:e.row.fold[i[r]],onward:e.place(o[r])-e.place(i[r])}};return(i,o,r,l)=>{let a=t.ids[i],c=t.ids[o],h=a*t.rows.length+c,f=s.get(h);f||s.set(h,f=n(t.rows[a],t.rows[c]));let{fold:d,onward:u}=f;if(d<0)return{step:ne,crossed:-1};let m=r===l&&r!==it&&u>0==(r!==mt);return{step:Math.abs(u)===1&&m?se:Ds,crossed:d}}}function ko(e,t){let s=new Map,n=[0,0,0,0];for(let i of e)for(let o=0;o<4;o++){let r=t.get(O(i.row,o));r&&i.row>=0&&s.set(r,n[o]++)}return s}function $o(e,t,s,n){let{flow:i,step:o}=t;return i.members=t.seen.size,i.bytes=o===ne?t.own:t.leaving||t.entering,i.times=Mo(e,i,n)-(o===se?1:0),i.relation=o===se?"next":o===Ds?"across":jo(e,i,s),i}function Mo(e,t,s){let n=new Set;for(let i of[t.source,t.target])for(let o=i.row;o>0;o=e.row.parent[o])e.row.fold[o]>=0&&s[e.row.fold[o]]&&n.add(e.row.fold[o]);return[...n].reduce((i,o)=>i*e.members[o].length,1)}function jo(e,t,s){let{source:n,target:i}=t;if(n.phase===i.phase){if(n.phase===it)return"across";let r=s.get(n),a=(s.get(i)-r)*(n.phase===mt?-1:1);return a<0?"against":a===1?"flow":"skip"}return(n.row===i.row||i.phase===it&&So(e,i.row,n.row))&&i.phase>n.phase?"saved":"across"}function So(e,t,s){let n=s;for(;n>t;)n=e.row.parent[n];return n===t}function To(e){return e.filter(t=>t.relation==="skip"&&t.source.phase===Bs).slice(0,so).forEach(t=>{t.relation="far skip"}),e}var xt=24,F=17,R=36,At=26,gt=27,Ao=14,Is=7,Oo=3,Eo=60,Co=1100;function Lo(e,t){let s=(u,m,x)=>Math.round(Math.max(u,Math.min(x,m))),n=e.length>3&&t<900,i=s(n?96:104,.16*t,n?96:190),o=s(n?46:54,.075*t,n?46:84),r=n?24:t<900?32:46,l=e.length>1&&e[e.length-1]===it?s(n?92:110,.14*t,n?92:164):0,a=e.length-(l?1:0),c=t-i-r-16-o*(e.length-1)-l,h=s(n?138:150,c/a,a>1?270:420),f=i+r;return{columns:e.map((u,m)=>{let x={phase:u,x:f,w:l&&m===e.length-1?l:h};return f+=x.w+o,x}),labelWidth:i,gap:o,width:f-o+16,gutter:r,short:h<216}}function Ot(e,t,{room:s,phases:n=e.columns,flows:i=!0}){let o=Ps(e,t,{flows:i}),l={...Lo(n,s),boxes:[],bands:[],labels:[],arrows:[],pills:[],height:0,view:o,at:new Map};return _o(l),No(l),Wo(e,l),l}function zo(e){let t=e.differences.slice(0,Oo),s=e.differences.length-t.length,n=[...e.moves.map(i=>({type:"move",of:i})),...e.shares.map(i=>({type:"share",of:i})),...t.map(i=>({type:"difference",of:i}))];return s>0&&n.push({type:"more",of:s}),n.map((i,o)=>({...i,y:xt+2+F*o}))}var Ws=e=>xt+3+(e?F*e+4:0);function _o(e){let{items:t,cells:s}=e.view,n=[],i=R+12,o=r=>{for(;n.length&&n[n.length-1].end<=r;){let{band:l,spans:a}=n.pop(),c=Math.max(i-At,...a.map(h=>h.y+Ws(h.lines.length)));for(let h of a)h.h=c-h.y;l.h=c+10-l.y,i=c+10+At-(n.length?10:0)}};t.forEach((r,l)=>{o(l);let a=r.row<0?[]:Bo(e,r,s,i);if(r.isOpen){let c={item:r,x:6+r.depth*10,y:i,w:e.width-12-r.depth*20,h:0,depth:r.depth};e.bands.push(c),i+=gt;for(let h of a)Object.assign(h,{y:i,isSpan:!0,isStack:!1});n.push({end:l+1+r.count,band:c,spans:a})}else{let c=Math.max(xt+3,...a.map(h=>Ws(h.lines.length)));for(let h of a)h.h=c;e.labels.push({item:r,x:14+r.depth*10,y:i,h:c,w:e.labelWidth-4-r.depth*10}),i+=c+At}}),o(t.length),e.height=i-At+Ao}function Bo(e,t,s,n){let i=[];for(let o of e.columns){let r=s.get(O(t.row,o.phase));if(!r)continue;let l=t.fold>=0&&e.view.isClosed[t.fold]===1,a={cell:r,x:o.x,y:n,w:o.w,h:0,lines:zo(r),isSpan:!1,isStack:l};e.at.set(O(t.row,o.phase),a),i.push(a)}return e.boxes.push(...i),i}var Fs=(e,t)=>e.at.get(O(t.row,t.phase));function No(e){let t={ends:[]};for(let s of e.view.flows){let n=Fs(e,s.source),i=Fs(e,s.target);if(!n||!i)continue;let o=s.relation==="flow"?Po(e,n,i):s.relation==="saved"&&s.bytes>0?Ro(e,n,i):s.relation==="far skip"?Do(n,i,t,e.gutter):null;if(!o)continue;let r=s.relation==="far skip"?"skip":s.relation;e.arrows.push({flow:s,points:o,width:r==="skip"?Math.min(3,Et(s)):Et(s),kind:r})}}var Et=e=>Math.max(1,Math.min(9,.75*Math.log2(1+(e.bytes||e.total)/65536)));function Po(e,t,s){if(t.isSpan||s.isSpan)return null;let n=Math.round(t.x+t.w/2),i=s.y>t.y,o=[[n,i?t.y+t.h:t.y],[n,i?s.y:s.y+s.h]];return Hs(e,o,t,s)?o:null}function Ro(e,t,s){let n=Math.max(t.y,s.y),i=Math.min(t.y+t.h,s.y+s.h);if(i-n<10)return null;let o=Math.round((n+i)/2),r=[[t.x+t.w,o],[s.x,o]];return Hs(e,r,t,s)?r:null}function Do(e,t,s,n){let i=e.y+e.h*.75,o=t.y+Math.min(t.h*.25,12),r=[Math.min(i,o),Math.max(i,o)],l=h=>h.every(([f,d])=>d<r[0]||f>r[1]),a=s.ends.findIndex(l);if(a<0&&(a=s.ends.push([])-1),a*Is>n-12)return null;s.ends[a].push(r);let c=e.x-10-Is*a;return[[e.x,i],[c,i],[c,o],[t.x,o]]}function Hs(e,t,s,n){return e.boxes.every(i=>i===s||i===n||!Io(t,i))}function Io(e,t){for(let s=1;s<e.length;s++){let[[n,i],[o,r]]=[e[s-1],e[s]];if(Math.max(n,o)>t.x&&Math.min(n,o)<t.x+t.w&&Math.max(i,r)>t.y&&Math.min(i,r)<t.y+t.h)return!0}return!1}function Wo(e,t){let s=new Map;for(let n of t.view.flows){if(n.relation!=="next")continue;let i=`${n.crossed},${n.source.phase}`,o=s.get(i)??Fo(e,t,n);o&&(s.set(i,o),o.bytes+=n.total/Math.max(1,o.times))}t.pills.push(...s.values())}function Fo(e,t,s){let{phase:n}=s.source,i=t.columns.find(l=>l.phase===n),o=t.bands.find(l=>l.item.fold===s.crossed&&!l.item.isUnfolded&&l.item.row>=0),r=o??t.at.get(O(e.fold.shown[s.crossed],n));return!i||!r?null:{flow:s,phase:n,x:i.x+i.w/2,y:n===mt?r.y-(o?4:14):r.y+r.h+(o?0:9),bytes:0,times:e.members[s.crossed].length-1}}function ie(e,t){let s={open:new Set([0]),unfolded:new Set},n=new Set;for(let i=Ot(e,s,{room:t,flows:!1});;){let o=Ho(e,i,n);if(o<0)return s;s.open.add(o);let r=Ot(e,s,{room:t,flows:!1});if(r.boxes.length<=Eo&&r.height<=Co){i=r;continue}s.open.delete(o),n.add(o)}}function Ho(e,t,s){let n=-1,i=0;for(let{item:o}of t.labels){if(o.row<=0||!e.children[o.row].length||s.has(o.row))continue;let r=t.columns.reduce((l,{phase:a})=>l+(t.at.get(O(o.row,a))?.cell.kernels??0),0);r>i&&([n,i]=[o.row,r])}return n}var ot='system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif',Ct=`12px ${ot}`,H=`600 12px ${ot}`,E=`11px ${ot}`,oe=`600 11px ${ot}`,Us=`italic 11px ${ot}`,Lt=new Map;function C(e,t,s){let n=s+t,i=Lt.get(n);return i===void 0&&(Lt.size>2e4&&Lt.clear(),e.font=s,Lt.set(n,i=e.measureText(t).width)),i}function U(e,t,s,n){let i=t.find(a=>C(e,a,n)<=s);if(i!==void 0)return i;let o=t[t.length-1],r=0,l=o.length;for(;r<l;){let a=r+l+1>>1;C(e,`${o.slice(0,a)}\u2026`,n)<=s?r=a:l=a-1}return r?`${o.slice(0,r).trimEnd()}\u2026`:""}function qs(e,t,s){let{scale:n,ratio:i}=s;e.setTransform(i,0,0,i,0,0),e.fillStyle=s.colors.bg,e.fillRect(0,0,s.width,s.height),e.setTransform(i*n,0,0,i*n,-s.left*i,-s.top*i),e.textBaseline="middle";let o=s.top/n,r=(s.top+s.height)/n,l=a=>a.y-20<r&&a.y+a.h+20>o;for(let a of t.bands)l(a)&&Ko(e,t,s,a);for(let a of t.arrows){let c=a.points.map(([,f])=>f),h=Math.min(...c);l({y:h,h:Math.max(...c)-h})&&Js(e,a.points,a.width,Zo(s,a),a.kind==="skip"?.45:.9)}for(let a of t.bands)l(a)&&qo(e,t,s,a);for(let a of t.labels)l(a)&&Go(e,t,s,a);for(let a of t.boxes)l(a)&&Yo(e,s,a);for(let a of t.arrows)Qo(e,t,s,a);for(let a of t.pills)er(e,s,a,t.short);s.hover&&sr(e,t,s,s.hover),s.focus&&re(e,s.focus,s.colors.select,2),Uo(e,t,s)}function V(e,t,s,n,i,o){e.beginPath(),e.roundRect(t+.5,s+.5,n,i,o)}function re(e,t,s,n){e.strokeStyle=s,e.lineWidth=n,V(e,t.x-2,t.y-2,t.w+3,t.h+3,6),e.stroke()}function _(e,t,s,n,i,o){e.font=i,e.fillStyle=o,e.fillText(t,s,n)}function Uo(e,t,s){let{colors:n,words:i,scale:o,ratio:r}=s;e.setTransform(r*o,0,0,r*o,-s.left*r,0),e.fillStyle=n.bg,e.fillRect(s.left/o,0,s.width/o,R-6);let{is_differentiated:l}=i.graph.header;for(let a of t.columns){let c=a.phase===2?"  \u2191":a.phase===3?"":"  \u2193",h=l?i.graph.phases[a.phase]:"in the order of the program";_(e,h+c,a.x+3,13,`600 13px ${ot}`,l?n[`ph-${a.phase}`]:n.text),e.fillStyle=n[`ph-${a.phase}`],e.fillRect(a.x,24,a.w,2)}}function Ko(e,t,s,n){let{colors:i}=s,{item:o}=n,r=zt(t,o);if(e.lineWidth=1,e.strokeStyle=i.rule,r)for(let l of[6,3])V(e,n.x+l,n.y-l,n.w,n.h,4),e.stroke();e.fillStyle=n.depth%2?i.panel:i.band,e.strokeStyle=r||o.isUnfolded?i.line:i.rule,V(e,n.x,n.y,n.w,n.h,4),e.fill(),e.stroke()}var zt=(e,t)=>t.row>=0&&t.fold>=0&&e.view.isClosed[t.fold]===1;function Xs(e,t,s,n){return U(t,[`\u25BE ${e.row(n.item,zt(s,n.item)||n.item.isUnfolded)}`],Math.max(120,n.w-20)*.6,H)}function qo(e,t,s,n){let{colors:i,words:o}=s,{item:r}=n,l=zt(t,r),a=Xs(o,e,t,n),c=(y,T)=>{e.fillStyle=n.depth%2?i.panel:i.band,e.fillRect(y-3,n.y+5,T+6,18)};if(c(n.x+8,C(e,a,H)),_(e,a,n.x+8,n.y+14,H,i.text),!l&&!r.isUnfolded)return;let{times:h,alike:f,shown:d}=o.fold(r.fold),u=Ys(e,s,l?h:`${h} side by side`,n.x+16+C(e,a,H),n.y+14)+8,m=l?[`${f} \xB7 ${d}`,`${d} \xB7 ${f}`,d]:["click to fold"],[x,g]=Xo(t,u,n.x+n.w-8,C(e,m[0],E)),w=U(e,m,g,E);c(x,C(e,w,E)),_(e,w,x,n.y+14,E,i.dim)}function Xo(e,t,s,n){let i=e.columns.map(r=>r.x+r.w/2).filter(r=>r>t-8&&r<s),o=[t,...i.map(r=>r+10)].map((r,l)=>[r,(i[l]??s)-r-10]);return o.find(([,r])=>r>=n)??o.reduce((r,l)=>l[1]>r[1]?l:r)}var Gs=(e,t)=>C(e,t,oe)+12;function Ys(e,t,s,n,i){let o=Gs(e,s);return e.fillStyle=t.colors.text,V(e,n,i-8.5,o,16,8),e.fill(),_(e,s,n+6,i+.5,oe,t.colors.bg),n+o}function Vs(e,t,s,n){let{item:i}=n,o=zt(t,i);if(!o&&!i.isUnfolded)return null;let{times:r}=s.fold(i.fold);return{x:n.x+16+C(e,Xs(s,e,t,n),H),y:n.y+5,w:Gs(e,o?r:`${r} side by side`),h:18}}function Go(e,t,s,n){let{item:i,x:o,y:r,w:l}=n,{words:a,colors:c}=s,{graph:h}=a,f=i.fold>=0&&t.view.isClosed[i.fold]===1,d=h.children[i.row].length?"\u25B8 ":"",u=a.row(i,f),m=u.indexOf(", "),x=m>0&&C(e,d+u,H)>l;_(e,U(e,[d+(x?u.slice(0,m):u)],l,H),o,r+13,H,c.text);let g=x?u.slice(m+2):h.words["row.holds"](i.row);if(f){let{times:w,alike:y}=a.fold(i.fold),T=Ys(e,s,w,o,r+30);_(e,U(e,[y],l-(T-o)-6,E),T+6,r+30,E,c.dim)}else g&&n.h>=27&&_(e,U(e,[g,g.split(", ")[0]],l,E),o,r+28,E,c.dim)}function Yo(e,t,s){let{colors:n}=t,{x:i,y:o,w:r,h:l,cell:a}=s,[c,h]=t.fillOf(s),f=t.found!==null&&!t.found.has(s);if(e.globalAlpha=f?.4:1,e.lineWidth=1,s.isStack)for(let u of[6,3])e.fillStyle=n.bg,e.strokeStyle=h,V(e,i+u,o-u,r,l,5),e.fill(),e.stroke();e.fillStyle=c,e.strokeStyle=h,V(e,i,o,r,l,5),e.fill(),e.stroke(),Vo(e,t,s),a.flops>0&&t.mostFlops&&(e.fillStyle=h,e.fillRect(i+1.5,o+l-3,Math.max(2,(r-2)*Math.sqrt(a.flops/t.mostFlops)),3));let d=t.lit.lines.get(s);s.lines.forEach((u,m)=>Jo(e,t,s,u,d?.has(m)??!1,f)),e.globalAlpha=1,t.lit.boxes.has(s)&&re(e,s,n.select,2)}function Vo(e,t,s){let{colors:n,words:i}=t,{x:o,y:r,w:l,cell:a}=s,c=i.heads(a),h=C(e,c[Math.max(0,c.length-2)],Ct),f=i.rights(a).find(m=>h+C(e,m,E)+24<=l)??"",d=f?C(e,f,E):0,u=U(e,c,l-16-(f?d+8:0),Ct);_(e,u,o+8,r+13,Ct,n.text),f&&_(e,f,o+l-8-d,r+13,E,n.dim),a.parts.length&&(e.setLineDash([2,2]),e.strokeStyle=n.dim,e.lineWidth=1,e.beginPath(),e.moveTo(o+8,r+20.5),e.lineTo(o+8+C(e,u,Ct),r+20.5),e.stroke(),e.setLineDash([]))}function Jo(e,t,s,n,i,o){let{colors:r,words:l}=t,{x:a,w:c}=s,h=s.y+n.y+F/2,{words:f,figure:d}=l.line(n),u=n.type==="move",m=n.type==="share",x=u||m?t.axisColor(n.of.axes):r.dim;i&&(e.fillStyle=r.strong,e.fillRect(a+2,h-8,c-3,16)),e.globalAlpha=o||(u||m)&&t.isFaded(n.of)?.4:1,u?(e.fillStyle=x,e.fillRect(a+8,h-6,4,13)):m&&(e.setLineDash([2,2]),e.strokeStyle=x,e.lineWidth=1,e.strokeRect(a+8.5,h-5.5,3,12),e.setLineDash([]));let g=u?oe:Us,w=u?E:Us,y=d?C(e,d,w):0,T=u||m?17:8;_(e,U(e,f,c-T-14-y,g),a+T,h+.5,g,t.hasAxisColors||!u?x:r.text),d&&_(e,d,a+c-8-y,h+.5,w,u?r.text:r.dim),e.globalAlpha=o?.4:1}function Zo(e,t){return e.hover?.cell===t.flow.source?e.colors.out:e.hover?.cell===t.flow.target?e.colors.in:t.kind==="flow"?e.colors.flow:e.colors.line}function Js(e,t,s,n,i){let o=t[t.length-1],r=t[t.length-2],l=Math.hypot(o[0]-r[0],o[1]-r[1])||1,[a,c]=[(o[0]-r[0])/l,(o[1]-r[1])/l],h=Math.min(4+s*.8,l);e.globalAlpha=i,e.strokeStyle=e.fillStyle=n,e.lineWidth=s,e.lineJoin="round",e.beginPath(),t.forEach(([f,d],u)=>u===0?e.moveTo(f,d):u<t.length-1?e.lineTo(f,d):e.lineTo(f-a*h,d-c*h)),e.stroke(),e.beginPath(),e.moveTo(o[0],o[1]);for(let f of[1,-1])e.lineTo(o[0]-a*h-f*c*h*.6,o[1]-c*h+f*a*h*.6);e.fill(),e.globalAlpha=1}function Qo(e,t,s,n){if(n.kind==="skip")return;let i=s.words.flowWays(n.flow),[[o,r],[l,a]]=n.points;if(n.kind==="flow")return Ks(e,s,i[0],o-8-n.width/2-C(e,i[0],E),tr(t,r,a));let c=U(e,i,l-o-4,E);Ks(e,s,c,(o+l)/2-C(e,c,E)/2-1,r-8-n.width/2)}function tr(e,t,s){let[n,i]=[Math.min(t,s),Math.max(t,s)],o=r=>e.bands.every(l=>(r<l.y-7||r>l.y+(l.item.fold>=0?26:7))&&Math.abs(r-l.y-l.h)>7);return[(n+i)/2,n+9,i-9].find(o)??(n+i)/2}function Ks(e,t,s,n,i){e.font=E,e.lineWidth=3,e.lineJoin="round",e.strokeStyle=t.colors.bg,e.globalAlpha=.9,e.strokeText(s,n,i),e.globalAlpha=1,e.fillStyle=t.colors.dim,e.fillText(s,n,i)}function er(e,t,s,n){let i=`\u21BB ${n?"":"next "}\xD7${s.times}  ${k(Math.round(s.bytes))}`,o=C(e,i,E)+14,r=s.x+10,l=s.y-8;e.fillStyle=t.colors.bg,e.strokeStyle=t.colors.line,e.lineWidth=1,e.setLineDash([3,2]),V(e,r,l,o,16,8),e.fill(),e.stroke(),e.setLineDash([]),_(e,i,r+7,l+8.5,E,t.colors.dim)}function sr(e,t,s,n){let i=new Set(t.arrows.map(a=>a.flow)),o=t.view.flows.filter(a=>a.source===n.cell||a.target===n.cell),r=new Set([n.cell,...o.flatMap(a=>[a.source,a.target])]);e.fillStyle=s.colors.bg,e.globalAlpha=.6;for(let a of t.boxes)r.has(a.cell)||e.fillRect(a.x-1,a.y-1,a.w+3,a.h+3);e.globalAlpha=1;let l=0;for(let a of o){let c=t.boxes.find(d=>d.cell===a.source),h=t.boxes.find(d=>d.cell===a.target);if(i.has(a)||!c||!h||c===h)continue;let f=Math.max(1.5,Math.min(5,Et(a)));Js(e,nr(t,c,h,l++),f,c===n?s.colors.out:s.colors.in,.85)}re(e,n,s.colors.text,2)}function nr(e,t,s,n){let i=10+5*(n%7),o=t.y+Math.min(t.h-6,t.h*.62),r=s.y+Math.min(s.h-6,xt/2+3*(n%4));if(t.x===s.x){let m=t.x+Math.max(t.w,s.w);return[[t.x+t.w,o],[m+i,o],[m+i,r],[s.x+s.w,r]]}let l=s.x>t.x,a=l?t.x+t.w:t.x,c=l?s.x:s.x+s.w,h=l?c-i:c+i,f=l?a+i:a-i;if(!e.columns.some(m=>l?m.x>t.x&&m.x<s.x:m.x>s.x&&m.x<t.x))return[[a,o],[h,o],[h,r],[c,r]];let u=ir(e,t,s);return[[a,o],[f,o],[f,u],[h,u],[h,r],[c,r]]}function ir(e,t,s){let n=s.isSpan?t.y:s.y,i=r=>e.boxes.every(l=>l.x===s.x||l.x===t.x||r<l.y||r>l.y+l.h);return e.boxes.filter(r=>!r.isSpan).flatMap(r=>[r.y-6,r.y+r.h+6]).filter(i).reduce((r,l)=>Math.abs(l-n)<Math.abs(r-n)?l:r,n-6)}function Zs(e,t,s){let{vis:n,stand:i}=t.view;return t.at.get(O(n[i[e.box.row[s]]],e.box.phase[s]))??null}function Qs(e,t,s){let{selection:n}=e.state,i={lines:new Map,boxes:new Set,phases:new Set};if(!n)return i;let o=or(e,t,n);for(let r of o){let{vis:l,stand:a,cells:c}=s.view,h=O(l[a[t.box.row[r]]],t.box.phase[r]),f=s.at.get(h);c.get(h)?.boxes.includes(r)?f?i.boxes.add(f):i.phases.add(t.box.phase[r]):i.hidden??=r}return n.type==="collective"&&lr(t,s,n.row,i),i}function or(e,t,s){let{kernel:n}=t;if(s.type==="collective")return new Set([...t.collective.row].flatMap((l,a)=>l===s.row?[t.collective.box[a]]:[]));if(s.type==="array")return rr(e,t);let[i,o]=s.type==="kernel"?[n.entity,2*s.row+1]:[n.spot,s.row],r=new Set;for(let l=0;l<t.kernels;l++)i[l]===o&&r.add(n.box[l]);return r}function rr(e,t){let s=new Set,n=new Set([e.selected?.name,...e.selected?.names??[]]),{source:i,ends:o}=t.read,r=new Set;for(let l=0;l<(t.header.arguments??0);l++)n.has(t.words.arguments(l))&&r.add(-2-l);if(!r.size)return s;for(let l=0;l<t.kernels;l++){let[a,c]=A(o,l);for(let h=a;h<c;h++)r.has(i[h])&&s.add(t.kernel.box[l])}return s}function lr(e,t,s,n){for(let i of t.boxes)i.lines.forEach((o,r)=>{o.type!=="move"&&o.type!=="share"||!o.of.collectives.some(l=>e.collective.row[l]===s)||(n.lines.has(i)||n.lines.set(i,new Set),n.lines.get(i)?.add(r))})}function le(e,t,s){let{parent:n,fold:i}=e.row;for(let o=e.box.row[s];o>0;o=n[o])i[o]>=0&&e.fold.shown[i[o]]!==o&&t.unfolded.add(i[o]),t.open.add(n[o])}var _t=class{constructor(t,s){this.graph=t,this.words=s,this.texts=null}find(t){let s=t.toLowerCase().split(/\s+/).filter(Boolean);if(!s.length)return[];this.texts??=Array.from({length:this.graph.boxes},(o,r)=>this._text(r));let n=this.texts.flatMap((o,r)=>s.every(l=>o.includes(l))?[r]:[]),i=new Set(n.map(o=>this._key(this.graph.box.row[o],o)));return n.filter(o=>{let r=this.graph.box.row[o],l=this.graph.row.shown_as[r];return l===r||!i.has(this._key(l,o))})}_key(t,s){return t*4+this.graph.box.phase[s]}_text(t){let{graph:s,words:n}=this,i=s.box.row[t],o=[n.phase(s.box.phase[t]),s.path(i),s.words["row.holds"](i)],[r,l]=A(s.move.ends,t);for(let a=r;a<l;a++)o.push(s.header.kinds[s.move.kind[a]],n.axes(s.move.axes[a]));for(let a of s.kernelsOf(t))o.push(s.words["kernel.names"](a),s.words.labels(s.kernel.label[a]));return o.join(" ").toLowerCase()}};var Bt=class{constructor(t){this.view=t,this.search=new _t(t.graph,t.words),this.hits=[],this.hit=-1,this.known=null,this.field=p("input",{type:"search",class:"search",placeholder:"Find in the graph","aria-label":"Find a scope, kernel or collective in the graph; Enter goes to the next",oninput:()=>this.find(),onkeydown:s=>this.key(s)}),this.count=p("span",{class:"hits","aria-live":"polite"}),this.parts=[this.field,this.count]}find(){this.hits=this.search.find(this.field.value),this.hit=-1,this.say(),this.view.paint()}say(){let t=this.field.value.trim()?"nothing":"",s=b(this.hits.length);this.count.textContent=this.hits.length?this.hit<0?s:`${this.hit+1} of ${s}`:t}boxes(){let{layout:t,graph:s}=this.view,{hits:n}=this;if(!t||!this.field.value.trim())return null;if(this.known?.layout!==t||this.known.hits!==n){let i=n.flatMap(o=>Zs(s,t,o)??[]);this.known={layout:t,hits:n,boxes:new Set(i)}}return this.known.boxes}key(t){t.key==="Escape"&&this.field.value&&(t.stopPropagation(),this.field.value="",this.find()),!(t.key!=="Enter"||!this.hits.length)&&(t.preventDefault(),this.hit=(this.hit+(t.shiftKey?-1:1)+this.hits.length)%this.hits.length,this.say(),this.view.goTo(this.hits[this.hit]))}};var Nt=(e,t,s)=>t>=e.x&&t<=e.x+e.w&&s>=e.y&&s<=e.y+e.h;function tn(e,t,s,n){let i=e.boxes.find(l=>Nt(l,t,s));if(i){let l=i.lines.findIndex(a=>s>=i.y+a.y&&s<i.y+a.y+F);return l<0?{type:"box",box:i}:{type:"line",box:i,line:l}}for(let l=e.bands.length-1;l>=0;l--){let a=e.bands[l],c=n(a);if(c&&Nt(c,t,s))return{type:"badge",item:a.item};if(Nt({...a,h:gt},t,s))return{type:"band",item:a.item}}let o=e.labels.find(l=>Nt({...l,h:Math.min(l.h,40)},t,s));return o?o.item.fold>=0&&e.view.isClosed[o.item.fold]===1&&s>o.y+21&&t<o.x+34?{type:"badge",item:o.item}:{type:"label",item:o.item}:null}var ae=6;function sn(e,t,s){if(e.type==="box")return ar(e.box.cell,t,s);if(e.type==="line")return hr(e.box,e.line,s);let{item:n}=e,{graph:i}=s,o=n.fold>=0&&(n.isUnfolded||t.view.isClosed[n.fold]===1);if(e.type==="badge")return[s.fold(n.fold).name,n.isUnfolded?"Click: one for all":"Click: each by itself",s.fold(n.fold).alike];let r=o?s.fold(n.fold).name:i.path(n.row),l=n.row>0?i.words["row.holds"](n.row):"",a=n.isUnfolded||i.children[n.row].length>0;return[r,l,o?`${s.fold(n.fold).alike}; ${s.fold(n.fold).shown}`:"",a?`Click: ${n.isUnfolded?"fold":n.isOpen?"close":"open"}`:""].filter(Boolean)}function ar(e,t,s){let n=[`${S(e.kernels,"kernel")} (modelled${e.inferred?`; ${b(e.inferred)} by inference`:""})`,e.matmuls?`${b(e.matmuls)} matmul, ${e.flops<0?"FLOPs unknown":tt(e.flops)} (counted)`:"",`writes ${k(e.bytes)} (counted)`].filter(Boolean),i=e.slowest<0?"":` in ${s.graph.label(e.slowest)}, the slowest of ${e.times}`,o=e.time<0?[]:[`${W(e.time)} per call${i} (measured, each kernel on its slowest device)`],r=e.iterations===1?[]:[e.iterations<0?"all per trip of a loop; how many trips is unknown":`all per trip; ${b(e.iterations)} trips per call`],l=e.times>1?[`one of ${e.times}: ${e.time<0?"":"other "}figures are those of the shown one`]:[],a=e.differences.length>3?e.differences.slice(3).map(c=>s.fullLine({type:"difference",of:c})):[];return[s.cell(e),n.join(", "),...o,...r,...l,...cr(e,s),...en(e,t,s,"target"),...en(e,t,s,"source"),...a]}function cr(e,t){let{graph:s}=t,n=new Set(e.boxes),i=new Set,o=new Set;for(let[r]of e.parts)(n.has(s.kernel.box[r])?i:o).add(r);return[i.size?`${S(i.size,"fusion")} here also work${i.size===1?"s":""} for other boxes`:"",o.size?`${S(o.size,"fusion")} in other boxes also work${o.size===1?"s":""} for this one`:""].filter(Boolean)}function en(e,t,s,n){let i=n==="source"?"target":"source",o=t.view.flows.filter(c=>c[n]===e).sort((c,h)=>(h.bytes||h.total)-(c.bytes||c.total));if(!o.length)return[];let r=n==="target"?"\u2190":"\u2192",l=o.slice(0,ae).map(c=>{let h=c.relation==="next"?", next layer":c[i]===e?", another layer":"";return`${r} ${s.flow(c)} \xB7 ${s.cell(c[i])}${h}`}),a=o.length>ae?[`${r} and ${o.length-ae} smaller`]:[];return[n==="target"?"reads":"gives to",...l,...a]}function hr(e,t,s){let n=e.lines[t];if(n.type==="more")return[s.fullLine(n),...e.cell.differences.slice(3).map(c=>s.fullLine({type:"difference",of:c}))];let i=s.fullLine(n),o=s.cell(e.cell);if(n.type==="difference")return[i,`against the shown one, in ${o}`,n.of.members.slice(0,8).map(c=>s.graph.label(c)).join(", "),"Click: open that layer"];if(n.type==="share")return[i,o,"Its share of an instruction that stands, and is counted, in another box","Click: select it"];let{runs:r,count:l}=n.of,a=r<0?"how often they run is unknown":r===l?"":`run ${b(r)} times per call; bytes of one run each`;return[i,o,"payload: bytes of operands on one device (counted)",a,"Click: select"].filter(Boolean)}var pr=4,fr=250;function on(e){let{canvas:t,box:s}=e,n=nt(s),i=0,o=()=>{clearTimeout(i),n.hide()},l=dr(e,a=>{let c=nn(e,a);t.classList.toggle("link",c!==null&&(c.type!=="label"||e.graph.children[c.item.row].length>0)),e.hoverOn(c&&(c.type==="box"||c.type==="line")?c.box:null);let h=c&&e.layout?sn(c,e.layout,e.words):[];o(),h.length&&(i=setTimeout(()=>n.show(h,a.clientX,a.clientY),fr))},o);return t.addEventListener("click",a=>{l()||(o(),ur(e,nn(e,a)))}),t.addEventListener("pointerleave",()=>{o(),e.hoverOn(null)}),s.addEventListener("wheel",a=>mr(e,a),{passive:!1}),{quiet:o}}function dr({canvas:e,box:t},s,n){let i=null,o=!1;e.addEventListener("pointerdown",l=>{o=!1,!(l.button!==0||l.pointerType==="touch")&&(i={x:l.clientX,y:l.clientY,left:t.scrollLeft,top:t.scrollTop})}),e.addEventListener("pointermove",l=>{if(!i)return s(l);!o&&Math.hypot(l.clientX-i.x,l.clientY-i.y)<pr||(o||e.setPointerCapture(l.pointerId),o=!0,n(),e.classList.add("grab"),t.scrollLeft=i.left-(l.clientX-i.x),t.scrollTop=i.top-(l.clientY-i.y))});let r=()=>{i=null,e.classList.remove("grab")};return e.addEventListener("pointerup",r),e.addEventListener("pointercancel",r),()=>o}function nn({canvas:e,box:t,layout:s,scale:n,words:i},o){let r=e.getBoundingClientRect(),l=e.getContext("2d");if(!s||!l||o.clientY-r.top<(R-8)*n)return null;let a=(o.clientX-r.left+t.scrollLeft)/n,c=(o.clientY-r.top+t.scrollTop)/n;return tn(s,a,c,h=>Vs(l,s,i,h))}function ur(e,t){e.focus=null,t&&(t.type==="badge"?e.unfold(t.item.fold):t.type==="band"||t.type==="label"?e.choose(t.item):t.type==="line"?e.pick(t.box,t.line):e.enter(t.box))}function mr(e,t){if(!t.ctrlKey&&!t.metaKey)return;t.preventDefault();let s=e.canvas.getBoundingClientRect();e.zoom(Math.exp(-Math.max(-60,Math.min(60,t.deltaY))*.01),t.clientX-s.left,t.clientY-s.top)}function rn(e,t,s){let n=[];for(let i of e.view.items){let o=i.row>=0&&i.fold>=0&&e.view.isClosed[i.fold]===1,r=i.depth+1,l=i.isUnfolded||t.graph.children[i.row]?.length>0,a=o||i.isUnfolded?`, ${t.fold(i.fold).times}, ${o?t.fold(i.fold).shown:"side by side"}`:"";if(n.push({key:i.isUnfolded?`f${i.fold}`:`r${i.row}`,level:r,name:t.row(i,o)+a,expanded:l?i.isOpen:null,item:i,box:null,line:-1}),!(i.row<0))for(let{phase:c}of e.columns){let h=O(i.row,c),f=e.at.get(h);if(!f)continue;let d=f.lines.length>0,u=s.has(h);n.push({key:`b${h}`,level:r+1,name:t.box(f.cell,f.lines),expanded:d?u:null,item:i,box:f,line:-1}),u&&f.lines.forEach((m,x)=>n.push({key:`l${h},${x}`,level:r+2,name:t.fullLine(m),expanded:null,item:i,box:f,line:x}))}}return n}function ln(e){let t=`pjit-tree-${++xr}-`,s=p("div",{class:"offscreen graphtree",role:"tree",tabindex:0,"aria-label":"Graph: scopes by phases. Arrows move, Enter opens or selects."}),n=[],i="",o=()=>n.findIndex(c=>c.key===i),r=c=>{let h=n[c]??null;i=h?.key??"";let f=s.children[c];s.querySelector("[aria-selected=true]")?.setAttribute("aria-selected","false"),f?.setAttribute("aria-selected","true"),f?s.setAttribute("aria-activedescendant",f.id):s.removeAttribute("aria-activedescendant"),e.moved(document.activeElement===s||s.getRootNode()instanceof ShadowRoot?h:null)},l=()=>{n=e.nodes(),s.replaceChildren(...n.map((c,h)=>p("div",{id:t+h,role:"treeitem","aria-level":c.level,"aria-expanded":c.expanded===null?void 0:String(c.expanded),"aria-selected":String(c.key===i)},p("bdi",{},c.name)))),i&&o()<0&&(i=""),i&&s.setAttribute("aria-activedescendant",t+o())};return s.addEventListener("focus",()=>{l(),r(Math.max(0,o()))}),s.addEventListener("blur",()=>e.moved(null)),s.addEventListener("keydown",c=>{if(c.ctrlKey||c.metaKey||c.altKey)return;let h=gr(c.key,n,o());if(h===null)return e.key(c);if(c.preventDefault(),typeof h=="number")return r(h);h.open===null?e.act(n[o()]):e.open(n[o()],h.open),l(),r(Math.max(0,o()))}),{element:s,update:l,choose:c=>{i=c}}}var xr=0;function gr(e,t,s){if(!t.length)return null;let n=t[s]??t[0];if(e==="ArrowDown")return Math.min(t.length-1,s+1);if(e==="ArrowUp")return Math.max(0,s-1);if(e==="Home")return 0;if(e==="End")return t.length-1;if(e==="Enter"||e===" ")return{open:null};if(e==="ArrowRight")return n.expanded===!1?{open:!0}:t[s+1]?.level>n.level?s+1:s;if(e==="ArrowLeft"){if(n.expanded)return{open:!1};for(let i=s-1;i>=0;i--)if(t[i].level<n.level)return i;return s}return null}var wr=["forward","recompute","backward","optimizer"];function an(e,t){let s=e.header.arrays.filter(o=>o.role==="value"&&o.sharding>=0&&o.spots.length);if(!s.length)return null;let n=br(s,e),i=new Map;for(let o=0;o<t.boxes;o++){let r=new Map,l=new Set(t.kernelsOf(o).map(c=>t.kernel.spot[c]));for(let c of l)for(let[h,f]of n.get(`${c},${wr[t.box.phase[o]]}`)??[])r.set(h,(r.get(h)??0)+f);let a=[...r].sort((c,h)=>h[1]-c[1])[0];a&&i.set(o,a[0]?a[0].split(`
`):[])}return i.size?i:null}function br(e,t){let s=new Map;for(let n of e){let i=[...new Set((t.header.shardings[n.sharding].spec??[]).flat())].join(`
`),o=`${n.spots[0]},${n.phase||"forward"}`;s.has(o)||s.set(o,[]),s.get(o)?.push([i,n.bytes])}return s}async function rt(e,t,s=e.data?.header.text){if(!s)return;let n=await yr(s)||vr(s,t);t.textContent=n?"Copied":"Copying was refused",setTimeout(()=>{t.textContent="Copy as text"},1500)}async function yr(e){let t=document.permissionsPolicy??document.featurePolicy;if(t&&!t.allowsFeature("clipboard-write"))return!1;try{return await navigator.clipboard.writeText(e),!0}catch{return!1}}function vr(e,t){let s=p("textarea",{class:"offscreen","aria-hidden":"true"});s.value=e,t.after(s),s.select();try{return document.execCommand("copy")}catch{return!1}finally{s.remove(),t.focus()}}var Pt=560,kr=560,$r=.3,Mr=3,jr=.9,lt=(e,t,s,n="")=>p("button",{type:"button",class:`button ${n}`,title:t,"aria-label":t,onclick:s},e);function cn(e,t){let s=p("section",{class:"graph","aria-label":"Graph"}),n=null;return e.listen(i=>{if(i.has("data")&&e.data){let o=Ns(e.data);n=o&&new ce(e,o,t),s.replaceChildren(...n?n.parts:[p("p",{class:"nothing"},e.data.header.graph?.missing||"No graph of this record.")])}n?.changed(i)}),s}var ce=class{shown=null;before=null;layout=null;lit={lines:new Map,boxes:new Set,phases:new Set};hover=null;focus=null;openBoxes=new Set;scale=1;width=0;height=0;mode="phase";mostFlops=0;isNarrow=!1;isStale=!1;colors={};fillOf=null;idle=void 0;canvas=p("canvas",{role:"img","aria-label":"The graph; the tree beside it says the same"});space=p("div",{class:"graphspace"},p("div",{class:"graphstick"},this.canvas));box=p("div",{class:"graphbox",tabindex:-1},this.space);foot=p("div",{class:"graphfoot"});phases=p("span",{class:"tight",role:"group","aria-label":"Phase"});stripButton=lt("Schedule","Show or hide when kernels run",()=>this.showStrip(!!this.strip.hidden));paintSoon=Q(()=>this.isVisible&&this.paintNow());constructor(t,s,n){this.store=t,this.graph=s,this.strip=n,this.phase=s.columns[0],this.sets=t.data?.header.axis_sets??[],this.words=new St(s,this.sets),this.shardings=t.data&&an(t.data,s),this.finder=new Bt(this),this.tree=ln({nodes:()=>this.layout?rn(this.layout,this.words,this.openBoxes):[],act:r=>this.act(r),open:(r,l)=>this.openNode(r,l),moved:r=>this.moved(r),key:r=>this.key(r)}),this.parts=[this.toolbar(),this.tree.element,this.box,this.foot,this.strip];let i=on(this),o=()=>{i.quiet(),this.paint()};this.box.addEventListener("scroll",o,{passive:!0}),new ResizeObserver(()=>this.resized()).observe(this.box)}toolbar(){let t=p("select",{"aria-label":"Colour boxes by",onchange:()=>{this.mode=this.words.mode=t.value,this.dress(),this.tree.update()}},Cs(this.graph,!!this.shardings).map(([n,i])=>p("option",{value:n},i))),s=lt("Copy","Copy the graph as text",()=>this.layout&&rt(this.store,s,Os(this.layout,this.words)),"wideonly push");return p("div",{class:"graphbar"},this.phases,...this.finder.parts,p("label",{class:"wideonly"},"colour by ",t),p("span",{class:"tight wideonly"},lt("\u2212","Zoom out (-)",()=>this.zoom(1/1.2)),lt("Fit","Fit the width (0)",()=>this.fit()),lt("+","Zoom in (+)",()=>this.zoom(1.2))),lt("Reset","Open what is open at first",()=>this.reset(),"wideonly"),this.stripButton,s)}showStrip(t){this.strip.hidden=!t,this.stripButton.setAttribute("aria-pressed",String(t))}changed(t){t.has("theme")&&this.dress(),(t.has("centre")||t.has("pane")||t.has("wide"))&&this.resized(),t.has("selection")?this.selected():["axes","kind","list"].some(s=>t.has(s))&&this.paint()}get isVisible(){return this.box.clientWidth>0&&this.box.clientHeight>0}resized(){let t=this.box.parentElement;if(!this.layout&&t?.clientHeight&&this.showStrip(t.clientWidth>=Pt&&t.clientHeight>=kr),!this.isVisible)return;let{clientWidth:s,clientHeight:n}=this.box;if(this.layout&&s===this.width&&n===this.height&&!this.isStale)return;let i=!this.layout;[this.width,this.height]=[s,n],this.isNarrow=s<Pt&&this.graph.columns.length>1,this.shown??=ie(this.graph,Math.max(s,Pt)),this.arrange(),this.fit(),this.dress(),(i||this.isStale)&&this.selected(),this.isStale=!1}arrange(){this.shown&&(this.layout=Ot(this.graph,this.shown,{room:this.width,phases:this.isNarrow?[this.phase]:this.graph.columns}),this.mostFlops=Math.max(0,...this.layout.boxes.map(t=>t.cell.flops)),this.hover=null,this.relit(),this.size(this.box.scrollTop>0?this.box.scrollTop+this.box.clientHeight:0),clearTimeout(this.idle),this.idle=setTimeout(()=>this.tree.update(),60),this.phases.replaceChildren(...this.isNarrow?this.phaseButtons():[]))}phaseButtons(){return this.graph.columns.map(t=>p("button",{type:"button",class:"button","aria-pressed":String(t===this.phase),onclick:()=>{this.phase=t,this.arrange(),this.dress()}},this.words.phase(t)))}size(t=0){this.layout&&(this.space.style.width=`${Math.max(this.layout.width*this.scale,1)}px`,this.space.style.height=`${Math.max(this.layout.height*this.scale,t)}px`,this.paint())}dress(){this.layout&&(this.recolor(),this.foot.replaceChildren(..._s(this.mode,this.graph,this.layout,this.sets,this.store.first.axes),...this.notes()),this.paint())}recolor(){this.layout&&(this.colors=Ls(this.box),this.fillOf=zs(this.mode,this.layout,this.colors,{sets:this.sets,all:this.store.first.axes,shardings:this.shardings}))}notes(){let{graph:t,layout:s}=this,n=[...s?.view.cells.values()??[]];return[["kernels per box: modelled","A kernel of several scopes stands in one box, and some have no scope of their own."],t.header.has_scopes?null:["no scopes: rows by loop, function, argument","Name parts of the program with jax.named_scope to see them as rows."],n.some(o=>o.iterations!==1)?["per trip: of one iteration of the loop","How often it runs stands in the box."]:null,n.some(o=>o.shares.length)?["dashed bar: share of a combined collective","One instruction serves several boxes and is counted in one of them."]:null,n.some(o=>o.parts.length)?["dashed line: fusions shared between boxes","Point at a box to see with which."]:null].filter(Boolean).map(o=>p("span",{class:"wideonly",title:o?.[1]},o?.[0]))}paint(){this.layout&&this.paintSoon()}paintNow(){let{canvas:t,layout:s,box:n,store:i}=this;if(!s||!this.fillOf)return;getComputedStyle(n).getPropertyValue("--bg").trim()!==this.colors.bg&&this.recolor();let o=devicePixelRatio||1,r=n.clientWidth,l=n.clientHeight;(t.width!==Math.round(r*o)||t.height!==Math.round(l*o))&&(t.width=Math.round(r*o),t.height=Math.round(l*o),t.style.width=`${r}px`,t.style.height=`${l}px`);let a=t.getContext("2d",{alpha:!1}),{axes:c,kind:h}=i.state,f=this.graph.header.kinds;qs(a,s,{scale:this.scale,left:n.scrollLeft,top:n.scrollTop,width:r,height:l,ratio:o,colors:this.colors,words:this.words,axisColor:d=>this.colors[M(this.sets[d].axes,i.first.axes)],fillOf:this.fillOf,hasAxisColors:this.mode==="phase"||this.mode==="axis",lit:this.lit,isFaded:d=>c!==null&&d.axes!==c||h!==null&&f[d.kind]!==h,hover:this.hover,focus:this.focusPlace(),found:this.finder.boxes(),mostFlops:this.mostFlops})}toggle(t,s){!this.shown||!this.graph.children[t]?.length||(this.before=null,s??!this.shown.open.has(t)?this.shown.open.add(t):this.shown.open.delete(t),this.arrange(),this.dress())}unfold(t){this.shown&&(this.before=null,this.shown.unfolded.delete(t)||this.shown.unfolded.add(t),this.arrange(),this.dress())}reset(){this.before=null,this.shown=ie(this.graph,Math.max(this.width,Pt)),this.arrange(),this.fit(),this.dress()}relit(){this.layout&&(this.lit=Qs(this.store,this.graph,this.layout))}selected(){if(!this.layout||!this.shown)return;if(!this.isVisible){this.isStale=!0;return}this.before&&(this.shown=this.before,this.before=null,this.arrange(),this.dress()),this.relit(),this.isNarrow&&!this.lit.boxes.size&&this.lit.phases.size&&([this.phase]=this.lit.phases,this.arrange(),this.dress()),!this.lit.boxes.size&&this.lit.hidden!==void 0&&(this.before={open:new Set(this.shown.open),unfolded:new Set(this.shown.unfolded)},le(this.graph,this.shown,this.lit.hidden),this.arrange(),this.dress());let t=[...this.lit.boxes].sort((s,n)=>s.y-n.y);!this.store.isOpening&&t.length&&!t.some(s=>this.isInView(s))&&this.bring(t[0]),this.paint()}isInView(t){let s=this.box.scrollTop/this.scale,n=s+this.box.clientHeight/this.scale;return t.y>=s+R-8&&Math.min(t.y+t.h,t.y+120)<=n}bring(t){let{box:s,scale:n}=this;this.isInView(t)||(s.scrollTop=Math.max(0,(t.y-R-24)*n)),t.x*n<s.scrollLeft?s.scrollLeft=(t.x-20)*n:(t.x+t.w)*n>s.scrollLeft+s.clientWidth&&(s.scrollLeft=(t.x+t.w+12)*n-s.clientWidth)}goTo(t){if(!this.shown)return;let s=this.graph.box.row[t],n=this.graph.box.phase[t];this.isNarrow&&(this.phase=n),this.before=null,le(this.graph,this.shown,t),this.arrange(),this.dress();let i=this.layout?.at.get(s*4+n);i&&(this.focus={box:i,line:-1},this.tree.choose(`b${s*4+n}`),this.bring(i),this.paint())}hoverOn(t){t!==this.hover&&(this.hover=t,this.paint())}choose(t){t.isUnfolded?this.unfold(t.fold):this.toggle(t.row)}pick(t,s){let n=t.lines[s],{store:i,graph:o}=this;if(n.type==="difference"){let[c]=n.of.members;return this.shown?.unfolded.add(o.row.fold[c]),this.toggle(c,!0)}if(n.type==="more")return this.enter(t);let r=[...new Set(n.of.collectives.map(c=>o.collective.row[c]))].filter(c=>c>=0),l=i.state.selection,a=l?.type==="collective"?r.indexOf(l.row):-1;r.length&&i.select({type:"collective",row:r[(a+1)%r.length]})}enter(t){let{cell:s}=t;if(s.boxes.length>1&&this.graph.children[s.row].length&&!this.shown?.open.has(s.row))return this.toggle(s.row,!0);let n=this.box.parentElement;n&&s.boxes.length&&As(this.store,s.boxes[0],n)}zoom(t,s=this.box.clientWidth/2,n=R){let i=Math.max($r,Math.min(Mr,this.scale*t)),{box:o}=this,[r,l]=[(o.scrollLeft+s)*(i/this.scale)-s,(o.scrollTop+n)*(i/this.scale)-n];this.scale=i,this.size(),o.scrollLeft=r,o.scrollTop=l}fit(){this.layout&&(this.scale=Math.max(jr,Math.min(1,this.box.clientWidth/this.layout.width)),this.size())}moved(t){this.box.classList.toggle("focused",t!==null),this.focus=t&&{item:t.item,box:t.box,line:t.line};let s=this.focusPlace();s&&!this.isInView(s)&&this.bring(s),this.paint()}focusPlace(){let{focus:t,layout:s}=this;if(!t||!s)return null;let n=t.box?.cell,i=n&&s.boxes.find(l=>l.cell.row===n.row&&l.cell.phase===n.phase);if(i)return t.line<0?i:{x:i.x+3,y:i.y+i.lines[t.line].y+1,w:i.w-6,h:F-2};let o=s.bands.find(l=>l.item.row===t.item?.row&&l.item.fold===t.item.fold);if(o)return{x:o.x+3,y:o.y+3,w:o.w-6,h:gt-6};let r=s.labels.find(l=>l.item.row===t.item?.row);return r?{x:r.x-4,y:r.y+2,w:r.w+2,h:Math.min(r.h,36)}:null}act(t){t.box&&t.line>=0?this.pick(t.box,t.line):t.box?this.enter(t.box):this.choose(t.item)}openNode(t,s){if(!t.box)return t.item.isUnfolded?this.unfold(t.item.fold):this.toggle(t.item.row,s);let n=t.box.cell.row*4+t.box.cell.phase;s?this.openBoxes.add(n):this.openBoxes.delete(n)}key(t){let s=this.focus?.item?.fold??-1,i={"+":()=>this.zoom(1.2),"=":()=>this.zoom(1.2),"-":()=>this.zoom(1/1.2),0:()=>this.fit(),x:()=>s>=0&&this.unfold(s),PageDown:()=>{this.box.scrollTop+=this.box.clientHeight*.8},PageUp:()=>{this.box.scrollTop-=this.box.clientHeight*.8}}[t.key];i&&(t.preventDefault(),t.stopPropagation(),i(),this.tree.update())}};function hn(e){let{first:t}=e,s=p("button",{type:"button",class:"button",title:"Copy as text (c)",onclick:()=>rt(e,s)},"Copy as text"),n=p("button",{type:"button",class:"button widen",title:"Texts over the whole width (w)",onclick:()=>e.set({wide:!e.state.wide})},"Widen");e.listen(o=>{o.has("wide")&&(n.textContent=e.state.wide?"Narrow":"Widen")});let i=t.notes.map((o,r)=>Sr(e,o,r));return p("header",{class:"top"},p("div",{class:"title"},p("div",{class:"what"},B(t.title,t.axes)),p("div",{class:"buttons"},s,n)),p("p",{class:"answer"},B(t.answer,t.axes)),i.length?p("div",{class:"notes",role:"group","aria-label":"Notes"},i):null)}function Sr(e,t,s){let n=[t.warns?p("span",{class:"mark","aria-hidden":"true"},"\u25B2 "):null,p("bdi",{},t.words)];if(!t.list)return p("span",{class:"note",title:t.words},n);let i=()=>e.set(e.state.note===s?{note:null}:{...N,list:t.list,note:s}),o=p("button",{type:"button",class:"note","aria-pressed":"false",title:`Show only these: ${t.words}`,onclick:i},n);return e.listen(r=>r.has("note")&&o.setAttribute("aria-pressed",String(e.state.note===s))),o}var he=300,fn=["list","data","axes","kind","role"],Tr=[...fn,"text","cause","note","sort","reversed"];function dn(e){let{first:t}=e,n=[["collectives","Collectives"],["arrays","Arrays"],["kernels","Kernels"]].map(([d,u],m)=>[d,[u,p("span",{class:"count"},` ${b(t.counts[m])}`)]]),i=Y("What to list",n,()=>e.state.list,d=>e.set({list:d})),o=p("input",{type:"search",class:"filter",placeholder:"Filter by name, file:line, scope  ( / )","aria-label":"Filter the list",oninput:()=>e.set({text:o.value})}),r=p("div",{class:"chips"}),l=new fe(e),a=p("div",{class:"rows",role:"listbox","aria-label":"Rows",tabindex:-1,onkeydown:d=>Nr(e,a,d)}),c=he,h=()=>{let d=e.rows(e.state.list),u=Ge(d,e.state,t);l.update(d,u);let m=e.state.selection;a.replaceChildren(...u.slice(0,c).map(([g,w],y)=>Er(e,g,w,y===0&&!m))),u.length>c&&a.append(p("button",{type:"button",class:"more",onclick:()=>{c+=he*4,h()}},`${b(u.length-c)} more`));let x=e.data?.header.more[e.state.list];x&&!e.state.text&&a.append(p("p",{class:"nothing"},x)),u.length||a.append(Ar(e,o)),pn(e,a)},f=d=>{d.has("list")&&(c=he),["list","data"].some(u=>d.has(u))&&i.update(),o.value!==e.state.text&&(o.value=e.state.text),fn.some(u=>d.has(u))&&Or(e,r),Tr.some(u=>d.has(u))?h():d.has("selection")&&pn(e,a)};return e.listen(f),f(new Set(["data"])),p("section",{class:"list","aria-label":"List"},i.bar,p("div",{class:"filters"},o,r,l.box),a)}var fe=class{constructor(t){this.store=t,this.list="",this.sort=this.select("Sort by",s=>t.set({sort:s})),this.order=p("button",{type:"button",class:"button order",onclick:()=>t.set({reversed:!t.state.reversed})}),this.cause=this.select("Only this cause",s=>t.set({cause:s||null})),this.count=p("span",{class:"dim shown",role:"status"}),this.box=p("div",{class:"tools"},this.sort,this.order,this.cause,this.count)}select(t,s){let n=p("select",{"aria-label":t,title:t,onchange:()=>s(n.value)});return n}update(t,s){let{state:n,data:i}=this.store,o=`${n.list} ${!!i}`;o!==this.list&&this.options(t),this.list=o,this.sort.value=qt(n),this.cause.value=n.cause??"",this.order.textContent=n.reversed?"\u2191":"\u2193",this.order.setAttribute("aria-pressed",String(n.reversed)),this.order.setAttribute("aria-label","Reverse the order"),this.order.title="Reverse the order";let r=l=>l.reduce((a,c)=>a+c.number,0);this.count.textContent=s.length<t.length?`${b(r(s.map(([l])=>l)))} of ${b(r(t))}`:""}options(t){this.sort.replaceChildren(...Ye(this.store.state.list,t).map(([i,o])=>p("option",{value:i},`by ${o}`)));let s=new Map;for(let i of t)for(let o of i.causes??[])s.set(o,(s.get(o)??0)+i.number);let n=[...s].sort((i,o)=>o[1]-i[1]);this.cause.replaceChildren(p("option",{value:""},"any cause"),...n.map(([i,o])=>p("option",{value:i},`${i} (${b(o)})`))),this.cause.hidden=n.length<2}};function Ar(e,t){let{state:s}=e;if(et(s))return p("p",{class:"nothing"},"Nothing fits. ",p("button",{type:"button",class:"button",onclick:()=>{t.value="",e.set(N)}},"Clear"));let n={collectives:"hlo",kernels:"hlo",arrays:"inputs"}[s.list]??"",i=e.data?.header.missing[n],o={collectives:"No collectives: the devices do not communicate.",arrays:"No arrays.",kernels:"No fused kernels."}[s.list];return p("p",{class:"nothing"},i??(e.data?o:""))}function Or(e,t){let{first:s,state:n}=e,i=e.rows(n.list),o=(l,a,c,h)=>p("button",{type:"button",class:"chip",title:h,"aria-pressed":String(a),onclick:c},l),r=[];if(n.list==="collectives"){for(let[l,a]of pe(i,"axes")){let c=s.axis_sets[l]??e.data?.header.axis_sets[l],h=p("span",{class:`square ${M(c.axes,s.axes)}`});r.push(o([h,`${c.words} `,p("span",{class:"count"},b(a))],n.axes===l,()=>e.set({axes:n.axes===l?null:l}),`Only over ${c.words}`))}for(let[l,a]of pe(i,"kind"))r.push(o([P(l)," ",p("span",{class:"count"},b(a))],n.kind===l,()=>e.set({kind:n.kind===l?null:l}),`Only ${l}`))}if(n.list==="arrays")for(let[l,a]of pe(i,"role"))r.push(o([`${l}s `,p("span",{class:"count"},b(a))],n.role===l,()=>e.set({role:n.role===l?null:l}),`Only ${l}s`));t.replaceChildren(...r.length>1?r:[])}function pe(e,t){let s=new Map;for(let n of e)s.set(n[t],(s.get(n[t])??0)+n.number);return[...s].sort((n,i)=>i[1]-n[1])}function Er(e,t,s,n){let i=e.state.list.slice(0,-1),o={collective:Lr,array:zr,kernel:_r}[i](e,t);return p("div",{class:`row ${o.color}`,role:"option","data-row":s,"aria-selected":"false",tabindex:n?0:-1,title:o.full??o.name,onclick:()=>{let r=e.state.pane==="list"&&Cr(e);e.select({type:i,row:s}),r&&e.set({pane:"details"})}},P(o.sign),p("span",{class:"name"},p("bdi",{},o.name)),p("span",{class:"size"},o.size),p("span",{class:"sub"},o.sub),p("span",{class:"times"},t.number>1?`\xD7 ${b(t.number)}`:""),o.share===null?null:p("span",{class:"bar",style:{width:`${Math.max(1,100*o.share)}%`}}))}function Cr(e){return e.isNarrow()}function Lr(e,t){let s=e.first.axis_sets[t.axes]??e.data?.header.axis_sets[t.axes],n=t.what.split("/").slice(0,2).join("/"),i=[t.kind,t.place,n===t.name?"":n].filter(Boolean).join(" \xB7 ");return{sign:t.kind,name:t.name,full:`${t.what}
${t.kind}, ${t.phase||"phase unknown"}, ${t.cause}, ${t.place}`,size:t.sent,sub:i,share:t.share,color:M(s?.axes??null,e.first.axes)}}function zr(e,t){let s=e.data?.header.shardings[t.sharding],n=[...new Set((s?.spec??[]).flat())],i=[t.array,t.spec,t.place].filter(Boolean).join(" \xB7 ");return{sign:"array",name:t.name,full:`${t.name}
${i}`,size:t.all,sub:i,share:null,color:M(n,e.first.axes)}}function _r(e,t){let s=t.contains.slice(0,3).map(([i,o])=>o>1?`${i} \xD7${o}`:i).join(", "),n=[t.time&&`${t.time} measured`,t.target||t.kind,s,t.place].filter(Boolean).join(" \xB7 ");return{sign:"kernel",name:t.what,full:`${t.what}
${n}`,size:t.traffic,sub:n,share:null,color:"ax-none"}}function pn(e,t){let{selection:s,list:n}=e.state,o=s!==null&&`${s.type}s`===n?t.querySelector(`.row[data-row="${s.row}"]`):null;for(let r of t.querySelectorAll('.row[aria-selected="true"], .row[tabindex="0"]'))r.setAttribute("aria-selected","false"),r.tabIndex=-1;(o??t.querySelector(".row"))?.setAttribute("tabindex","0"),o?.setAttribute("aria-selected","true"),o&&requestAnimationFrame(()=>Br(t,o))}function Br(e,t){let s=t.offsetTop-e.offsetTop;s<e.scrollTop?e.scrollTop=s:s+t.offsetHeight>e.scrollTop+e.clientHeight&&(e.scrollTop=s+t.offsetHeight-e.clientHeight)}function Nr(e,t,s){let n=[...t.querySelectorAll(".row")],i=n.indexOf(s.target),o=s.key==="Enter"||s.key===" "?i:G(s,i,n.length);o===null||o<0||(s.preventDefault(),n[o].focus(),e.select({type:e.state.list.slice(0,-1),row:Number(n[o].dataset.row)}))}function de(e){return e.map((t,s)=>s).filter(t=>e[t]>1).slice(0,4)}function ue(e,t=de(e)){let s=e.reduce((x,g)=>x*g,1),n=e.map((x,g)=>e.slice(g+1).reduce((w,y)=>w*y,1)),i=e.map((x,g)=>g).filter(x=>e[x]>1&&!t.includes(x)),[o,r]=un(t),l=0;t.length===1&&e[t[0]]>16&&(l=Math.ceil(Math.sqrt(e[t[0]]*2)));let a=x=>x.reduce((g,w)=>g*e[w],1),c=l||a(r),h=l?Math.ceil(e[t[0]]/l):a(o),f=new Int32Array(s),d=(x,g)=>g.reduce((w,y)=>w*e[y]+Math.floor(x/n[y])%e[y],0);for(let x=0;x<s;x++)i.some(g=>Math.floor(x/n[g])%e[g])?f[x]=-1:l?f[x]=d(x,t):f[x]=d(x,o)*c+d(x,r);let u=r.length>1?[e[r[r.length-1]]]:[],m=o.length>1?[e[o[o.length-1]]]:[];return{shown:t,folded:i,columns:c,rows:h,gapX:u,gapY:m,cellOf:f,sizes:e}}function un(e){let t=e.filter((n,i)=>(e.length-i)%2===0),s=e.filter((n,i)=>(e.length-i)%2===1);return[t,s]}function me(e){return un(e.shown)}var xe="10.5px system-ui, sans-serif";function mn(e){let{first:t}=e,s=new ge(e),n=Y("What the mesh shows",[["selection","Selection"],["heat","Sent"]],()=>e.state.heat,l=>e.set({heat:l})),i=p("div",{class:"meshwords"}),o=p("div",{class:"folds"}),r=()=>{s.draw(),i.replaceChildren(...Rr(e))};return de(t.mesh.shape).length<t.mesh.shape.filter(l=>l>1).length&&o.append(...Pr(e,s,r)),e.listen(l=>{l.has("heat")&&n.update(),["selection","data","heat","device","theme","pane","wide"].some(a=>l.has(a))&&r()}),new ResizeObserver(()=>s.resize()).observe(s.box),queueMicrotask(r),p("section",{class:"mesh","aria-label":"Mesh"},s.box,p("div",{class:"meshside"},n.bar,i,o))}function Pr(e,t,s){let{axes:n,shape:i}=e.first.mesh;return n.map((o,r)=>{if(i[r]<2)return null;let l=p("button",{type:"button",class:"chip","aria-pressed":String(t.grid.shown.includes(r)),title:`Draw ${o}, or show its first index only`,onclick:()=>{let a=t.grid.shown.includes(r)?t.grid.shown.filter(c=>c!==r):[...t.grid.shown,r].sort((c,h)=>c-h).slice(-4);t.grid=ue(i,a),t.resize(),[...l.parentElement?.children??[]].forEach(c=>c.setAttribute("aria-pressed",String(a.includes(Number(c.dataset.axis))))),s()},"data-axis":r},`${o} ${i[r]}`);return l}).filter(Boolean)}function Rr(e){let{first:t,data:s,state:n}=e,i=[];t.mesh.missing&&i.push(p("p",{class:"dim"},t.mesh.missing));let o=e.selected;return n.heat==="heat"?i.push(p("b",{},"Sent by each device, per call"),p("p",{class:"dim"},"modelled: rings; the stronger the colour, the more")):o&&n.selection?.type==="collective"&&s?i.push(p("b",{},S(o.groups_count,o.kind==="collective-permute"?"pair":"group")),p("p",{},Dr(s.header.axis_sets[o.axes])),p("p",{},`${o.sent} per device and call`),p("p",{class:"dim code"},o.groups_words)):o&&n.selection?.type==="array"?i.push(p("b",{},"Slice per device"),p("p",{class:"code"},o.spec),p("p",{class:"dim"},`${o.each} per device`)):i.push(p("p",{class:"dim"},`${S(t.mesh.size,"device")}. Select a collective to see its groups, an array to see its slices.`)),n.device!==null&&s&&i.push(...Ir(e,n.device)),i}function Dr(e){return e.axes===null?e.words:`over ${e.words}`}function Ir(e,t){let{data:s}=e;if(!s)return[];let n=s.column("mesh.ids"),i=s.column("mesh.hosts"),o=s.column("sent"),[r,l]=A(s.column("mesh.coords.ends"),t),a=[...s.column("mesh.coords").subarray(r,l)],c=[i[t]>=0?`host ${i[t]}`:"",a.length?`at (${a.join(", ")})`:"",`sends ${k(Math.round(o[t]??0))} per call (modelled)`];return[p("p",{class:"device"},p("b",{},`device ${n[t]}`),`: ${c.filter(Boolean).join(", ")}`)]}var ge=class{constructor(t){this.store=t,this.grid=ue(t.first.mesh.shape),this.canvas=p("canvas",{tabindex:0,role:"img","aria-label":"Mesh",onmousemove:s=>this.point(s),onmouseleave:()=>t.set({device:this.picked}),onclick:s=>this.pick(s),onkeydown:s=>this.walk(s)}),this.box=p("div",{class:"meshbox"},this.canvas),this.picked=null,this.width=this.height=0,this.draw=Q(()=>this.paint())}resize(){this.width=this.box.clientWidth,this.height=this.box.clientHeight,this.draw()}layout(){let{columns:t,rows:s,gapX:n,gapY:i}=this.grid,[o,r]=[Math.min(64,Math.max(20,this.leftWidth())),18],l=(u,m)=>u.length?Math.ceil(m/u[0])-1:0,[a,c]=[l(n,t),l(i,s)],h=(u,m,x)=>Math.max(1,Math.min(x,u/m)),f=h(this.width-o-6-8*a,t,80),d=h(this.height-r-6-6*c,s,58);return{left:o,top:r,w:f,h:d,x:u=>o+u*f+(n.length?Math.floor(u/n[0])*8:0),y:u=>r+u*d+(i.length?Math.floor(u/i[0])*6:0)}}leftWidth(){let[t]=me(this.grid);return(t.length?this.store.first.mesh.axes[t[t.length-1]]??"":"").length*6+20}paint(){if(!this.width||!this.height)return;let t=globalThis.devicePixelRatio||1;this.canvas.width=this.width*t,this.canvas.height=this.height*t,this.canvas.style.width=`${this.width}px`,this.canvas.style.height=`${this.height}px`;let s=this.canvas.getContext("2d");if(!s)return;s.scale(t,t),s.font=xe;let n=this.colors(),i=this.layout(),o=this.what(n);this.cells(s,i,n,o),o.row&&this.store.state.heat==="selection"&&this.groups(s,i,n,o.row),this.names(s,i,n),this.canvas.setAttribute("aria-label",this.label())}label(){let{first:t,state:s}=this.store,n=t.mesh.axes.map((o,r)=>`${o} ${t.mesh.shape[r]}`).join(" by "),i=s.device===null?"":`; device ${this.store.data?.column("mesh.ids")[s.device]??s.device}`;return`Mesh of ${S(t.mesh.size,"device")} ${n}${i}. Arrow keys choose a device.`}colors(){let t=getComputedStyle(this.canvas);return s=>t.getPropertyValue(`--${s}`).trim()||"#888"}what(t){let{store:s}=this,{data:n,state:i,first:o}=s,r=i.selection?.type==="collective"?s.selected:null;if(i.heat==="heat"&&n)return this.heat(n,t);if(i.selection?.type==="array"&&n&&s.selected){let l=s.selected,a=vt(n,l.sharding,l.shape);if(a)return this.slices(a,n,t,o.axes)}return{row:r,words:this.sentWords(r),fill:()=>"",shade:()=>0}}sentWords(t){if(!t)return()=>"";if(t.kind!=="collective-permute"||!this.store.data)return()=>t.sent;let{data:s}=this.store,n=s.column("groups.ends"),i=s.column("groups"),o=new Set,[r,l]=A(s.column("group_sets.ends"),t.groups);for(let a=r;a<l;a++){let[c,h]=A(n,a);h-c>1&&i[c]!==i[h-1]&&o.add(i[c])}return a=>o.has(a)?"":`
keeps`}heat(t,s){let n=t.column("sent"),i=0;for(let o of n)i=Math.max(i,o);return{row:null,words:o=>k(Math.round(n[o]??0)),fill:()=>s("select"),shade:o=>i?.08+.6*((n[o]??0)/i):0}}slices(t,s,n,i){let o=new Map;for(let h=0;h<t.devices.length;h++)o.set(t.devices[h],t.tileOf[h]);let r=s.column("mesh.ids"),l=t.tiles.reduce((h,f)=>h*f,1),a=n(M([...new Set((t.spec??[]).flat())],i));return{row:null,words:h=>o.has(r[h])?Re(o.get(r[h]),t).join(`
`):"",fill:()=>a,shade:h=>o.has(r[h])?l===1?.2:.1+.45*o.get(r[h])/(l-1):0}}cells(t,s,n,i){let{columns:o,cellOf:r}=this.grid,l=this.store.data?.column("mesh.ids"),{device:a}=this.store.state,c=s.w<24||s.h<14,h=c?Math.min(1,s.w*.15):6;for(let f=0;f<r.length;f++){let d=r[f];if(d<0)continue;let u=s.x(d%o)+h,m=s.y(Math.floor(d/o))+h,[x,g]=[Math.max(.8,s.w-2*h),Math.max(.8,s.h-2*h)],w=i.shade(f);c?(t.globalAlpha=w||.35,t.fillStyle=w?i.fill(f):n("line"),t.fillRect(u,m,x,g),t.globalAlpha=1):this.box1(t,n,{x:u,y:m,w:x,h:g,shade:w,fill:i.fill(f),id:l?l[f]:f,words:i.words(f)}),f===a&&this.ring(t,n,u,m,x,g)}}box1(t,s,n){t.beginPath(),t.roundRect(n.x,n.y,n.w,n.h,4),t.fillStyle=s("bg"),t.fill(),n.shade&&(t.globalAlpha=n.shade,t.fillStyle=n.fill,t.fill(),t.globalAlpha=1),t.strokeStyle=s("line"),t.lineWidth=1,t.stroke(),t.fillStyle=s("text"),t.textAlign="left",t.font=`600 ${xe}`;let i=n.h>=28;if(t.fillText(String(n.id),n.x+5,n.y+(i?13:n.h/2+4)),t.font=xe,!i||!n.words)return;let o=n.h>=40&&!n.words.includes(`
`)&&t.measureText(n.words).width>n.w-8;n.words.split(o?" ":`
`).slice(0,n.h>=40?2:1).forEach((l,a)=>{let c=t.measureText(l).width<=n.w-8?l:Wr(t,l,n.w-8);t.fillText(c,n.x+5,n.y+26+13*a)})}ring(t,s,n,i,o,r){t.strokeStyle=s("select"),t.lineWidth=2,t.strokeRect(n-1,i-1,o+2,r+2)}groups(t,s,n,i){let{data:o,first:r}=this.store;if(!o)return;let l=n(M(o.header.axis_sets[i.axes].axes,r.axes)),[a,c]=A(o.column("group_sets.ends"),i.groups),h=o.column("groups.ends"),f=o.column("groups"),d=s.w<24||s.h<14;for(let u=a;u<c;u++){let[m,x]=A(h,u),g=f.subarray(m,x);d?this.tint(t,s,n,l,g,u-a):i.kind==="collective-permute"?this.arrow(t,s,l,g):this.capsule(t,s,l,g)}}tint(t,s,n,i,o,r){t.fillStyle=r?i:n("select"),t.globalAlpha=r?.25+.35*(r%2):.95;for(let l of o){let a=this.grid.cellOf[l];a>=0&&t.fillRect(s.x(a%this.grid.columns),s.y(Math.floor(a/this.grid.columns)),Math.max(1,s.w-.5),Math.max(1,s.h-.5))}t.globalAlpha=1}middle(t,s){let n=this.grid.cellOf[s];return n===void 0||n<0?null:[t.x(n%this.grid.columns)+t.w/2,t.y(Math.floor(n/this.grid.columns))+t.h/2]}capsule(t,s,n,i){let o=[...i].map(m=>this.middle(s,m)).filter(m=>m!==null);if(o.length<2)return;let r=o.map(([m])=>m),l=o.map(([,m])=>m),a=Math.max(...l)-Math.min(...l)<1&&Math.max(...r)-Math.min(...r)<(s.w+8)*(o.length-1)+1,c=Math.max(...r)-Math.min(...r)<1&&Math.max(...l)-Math.min(...l)<(s.h+6)*(o.length-1)+1;if(t.strokeStyle=t.fillStyle=n,!a&&!c)return this.arcs(t,n,o);let[h,f]=[Math.min(...r)-s.w/2+2,Math.min(...l)-s.h/2+2],[d,u]=[Math.max(...r)-Math.min(...r)+s.w-4,Math.max(...l)-Math.min(...l)+s.h-4];t.beginPath(),t.roundRect(h,f,d,u,6),t.globalAlpha=.13,t.fill(),t.globalAlpha=1,t.lineWidth=1.5,t.stroke(),t.lineWidth=3,t.beginPath();for(let m=1;m<o.length;m++){let[x,g]=[o[m-1],o[m]],w=a?s.w/2-6:s.h/2-6;a?(t.moveTo(x[0]+w,x[1]),t.lineTo(g[0]-w,g[1])):(t.moveTo(x[0],x[1]+w),t.lineTo(g[0],g[1]-w))}t.stroke()}arcs(t,s,n){t.strokeStyle=s,t.lineWidth=1.6;for(let i=1;i<n.length;i++){let[[o,r],[l,a]]=[n[i-1],n[i]];t.beginPath(),t.moveTo(o,r),t.quadraticCurveTo((o+l)/2+(a-r)*.18,(r+a)/2-(l-o)*.18,l,a),t.stroke()}}arrow(t,s,n,i){let o=this.middle(s,i[0]),r=this.middle(s,i[i.length-1]);if(!o||!r||i[0]===i[i.length-1])return;let[l,a]=[r[0]-o[0],r[1]-o[1]],c=Math.hypot(l,a)||1,[h,f]=[l/c,a/c],d=c>s.w*1.6?10:4,u=[o[0]+h*14-f*5,o[1]+f*10+h*5],m=[r[0]-h*14-f*5,r[1]-f*10+h*5];t.strokeStyle=t.fillStyle=n,t.lineWidth=1.6,t.beginPath(),t.moveTo(u[0],u[1]),t.quadraticCurveTo((u[0]+m[0])/2-f*d,(u[1]+m[1])/2+h*d,m[0],m[1]),t.stroke(),t.beginPath(),t.moveTo(m[0],m[1]),t.lineTo(m[0]-h*7-f*3.5,m[1]-f*7+h*3.5),t.lineTo(m[0]-h*7+f*3.5,m[1]-f*7-h*3.5),t.fill()}names(t,s,n){let{axes:i,shape:o}=this.store.first.mesh,[r,l]=me(this.grid),a=this.store.first.axes,c=(h,f)=>{if(!h.length||!i.length)return;let d=h[h.length-1],u=f?this.grid.columns:this.grid.rows;t.fillStyle=n(M([i[d]],a)),t.textAlign=f?"center":"right";let m=f?s.w:s.h,x=Math.max(1,Math.ceil((f?22:13)/m)),g=-1/0;for(let w=0;w<u;w+=x){let y=w===0?h.map($=>i[$]).join(" ")+(f||s.h>12?" 0":""):String(h.length>1?w%o[d]:w),T=t.measureText(y).width/2,v=Math.max(s.x(w)+s.w/2,T+2);f&&v-T>g?(t.fillText(y,v,11),g=v+T+4):f||t.fillText(y,s.left-5,s.y(w)+s.h/2+4)}};c(l,!0),c(r,!1)}position(t){let s=this.canvas.getBoundingClientRect(),n=this.layout(),[i,o]=[t.clientX-s.left,t.clientY-s.top],r=(h,f,d,u)=>{for(let m=0;m<d;m++)if(u>=h(m)&&u<h(m)+f)return m;return-1},[l,a]=[r(n.x,n.w,this.grid.columns,i),r(n.y,n.h,this.grid.rows,o)];if(l<0||a<0)return null;let c=this.grid.cellOf.indexOf(a*this.grid.columns+l);return c<0?null:c}point(t){this.store.set({device:this.position(t)??this.picked})}pick(t){let s=this.position(t);this.picked=s===this.picked?null:s,this.store.set({device:this.picked})}walk(t){let s=this.grid.cellOf.length,{columns:n}=this.grid,i={ArrowDown:n,ArrowUp:-n},o=this.store.state.device??-1,r=o<0?-1:this.grid.cellOf[o],l=t.key in i?this.grid.cellOf.indexOf(Math.max(0,r)+i[t.key]):G(t,o,s);if(t.key==="Escape")this.picked=null;else{if(l===null||l<0)return;this.picked=l}t.preventDefault(),this.store.set({device:this.picked})}};function Wr(e,t,s){let n=t;for(;n.length>1&&e.measureText(`${n}\u2026`).width>s;)n=n.slice(0,-1);return`${n}\u2026`}var Fr=3;function xn(e){let{graph:t}=e.header,s=o=>e.column(`graph.${o}`),n=s("run.phase"),i=Hr(s);return{size:s("kernel.box").length,phases:[...new Set(n)].sort((o,r)=>o-r),starts:s("run.start"),rows:s("run.row"),runPhases:n,tones:new Map([...new Set(s("run.row"))].map((o,r)=>[o,r%2])),events:i,levels:Ur(i,t.lanes.length),lanes:t.lanes,firstMatmul:t.first_matmul,isScheduled:t.is_scheduled}}function Hr(e){let[t,s,n,i,o,r]=["collective","lane","start","end","first_use","is_async"].map(a=>e(`event.${a}`)),l=e("collective.row");return Array.from(t,(a,c)=>({collective:a,row:l[a]??-1,lane:s[c],start:n[c],end:Math.max(i[c],n[c]),firstUse:o[c],isAsync:!!r[c],level:0}))}function Ur(e,t){let s=Array.from({length:t},()=>[]);for(let n of e){let i=s[n.lane],o=i.findIndex(r=>r<=n.start);o>=0?n.level=o:n.level=i.length<Fr?i.length:i.indexOf(Math.min(...i)),i[n.level]=Math.max(n.end,i[n.level]??0)}return s.map(n=>Math.max(1,n.length))}function K(e,t){let s=0,n=e.starts.length;for(;s<n;){let i=s+n>>1;e.starts[i]<=t?s=i+1:n=i}return s-1}function Rt(e,t){return t+1<e.starts.length?e.starts[t+1]:e.size}function gn(e,t,s,n,i){let o=new Int32Array(i+1);for(let l of e.events){if(l.lane!==t||l.firstUse<=l.end)continue;let[a,c]=[l.end,l.firstUse].map(h=>Math.max(0,Math.min(i,Math.round((h-s)/n))));o[a]++,o[c]--}let r=0;return o.subarray(0,i).map(l=>r+=l)}function we(e,t,s,n){let i=-1,o=n;return e.events.forEach((r,l)=>{if(r.lane!==t)return;let a=Math.max(0,r.start-s,s-r.end);(a<o||a===o&&i<0)&&([i,o]=[l,a])}),i}function be(e,t,s){let n=e.events[t],i=s.header.collectives[n.row],o=s.column("graph.collective.bytes")[n.collective]??-1,r=s.header.axis_sets[e.lanes[n.lane]]?.words??"";return[`${i?.kind??"collective"} over ${r}, ${o<0?"size unknown":`payload ${k(o)}`}`,i?.what??"",Kr(n),qr(e,n,s)].filter(Boolean)}function Kr(e){if(!e.isAsync)return`at place ${b(e.start)}, not asynchronous`;let t=e.end-e.start,s=t?S(t,"kernel"):"no kernel";return`from place ${b(e.start)} to ${b(e.end)}: ${s} in between`}function qr(e,t,s){if(t.firstUse<0)return"no kernel takes its result";let n=t.firstUse-t.end,i=s.strings("graph.kernel.names").at(t.firstUse),o=e.firstMatmul>=0&&t.end<=e.firstMatmul&&t.firstUse>e.firstMatmul?", after the first matmul":"";return`first used ${n>0?`${S(n,"kernel")} later, `:""}by ${i}${o}`}var ke=14,z=14,$e=9,Dt=14,Xr="10px system-ui, sans-serif";function at(e){return ke+z*(e.phases.length+e.lanes.length)+(e.lanes.length?4:0)+Dt}function L(e,t){return ke+z*t+(t>=e.phases.length?4:0)}function D(e,t){return e.left+(t-e.from)/e.span*e.width}function wn(e,t){let{scale:s,strip:n}=t;e.font=Xr,e.textBaseline="middle",Gr(e,t),e.save(),e.beginPath(),e.rect(s.left,0,s.width,at(n)),e.clip(),Vr(e,t),Jr(e,t),n.lanes.forEach((i,o)=>Qr(e,t,o)),n.lanes.forEach((i,o)=>tl(e,t,o)),el(e,t),nl(e,t),il(e,t),e.restore()}function Gr(e,{strip:t,scale:s,color:n,laneColors:i,laneNames:o,phaseNames:r}){e.textAlign="right",[...r,...o].forEach((l,a)=>{let c=a>=r.length;e.fillStyle=c?i[a-r.length]:r.length>1?n(`ph-${t.phases[a]}`):n("dim"),e.fillText(Yr(e,l,s.left-8),s.left-6,L(t,a)+z/2)})}function Yr(e,t,s){if(e.measureText(t).width<=s)return t;let n=t;for(;n.length>1&&e.measureText(`${n}\u2026`).width>s;)n=n.slice(0,-1);return`${n}\u2026`}function Vr(e,{strip:t,scale:s,color:n}){e.fillStyle=n("rule");for(let i=0;i<=t.phases.length+t.lanes.length;i++){let o=i===t.phases.length+t.lanes.length?L(t,i-1)+z:L(t,i);e.fillRect(s.left,o-.5,s.width,.5)}}function Jr(e,t){let{strip:s,scale:n,color:i}=t,o=[.62,.4],r=s.phases.map(()=>-1);e.fillStyle=i("line");let l=Math.min(s.starts.length-1,K(s,n.from+n.span));for(let a=Math.max(0,K(s,n.from));a<=l;a++){let c=s.phases.indexOf(s.runPhases[a]),h=D(n,s.starts[a]),f=D(n,Rt(s,a));if(f<=r[c])continue;let d=Math.max(h,r[c]),u=Math.max(.7,f-d);r[c]=d+u,e.globalAlpha=o[s.tones.get(s.rows[a])??0],e.fillRect(d,L(s,c)+1,Math.max(.7,u-(u>4?.7:0)),z-2),f-h>24&&Zr(e,t,a,h,f,c)}e.globalAlpha=1}function Zr(e,t,s,n,i,o){let r=Math.max(n,t.scale.left)+3,l=Math.min(i,t.scale.left+t.scale.width)-r-3,a=t.label(t.strip.rows[s]);l<20||e.measureText(a).width>l||(e.globalAlpha=1,e.fillStyle=t.color("text"),e.textAlign="left",e.fillText(a,r,L(t.strip,o)+z/2+.5),e.fillStyle=t.color("line"))}function Qr(e,{strip:t,scale:s,laneColors:n},i){let r=Math.ceil(s.width/2),l=gn(t,i,s.from,s.span*2/s.width,r),a=l.reduce((h,f)=>Math.max(h,f),0),c=L(t,t.phases.length+i)+$e+2;if(a){e.fillStyle=n[i];for(let h=0;h<r;h++){let f=h+1;for(;f<r&&l[f]===l[h];)f++;l[h]&&(e.globalAlpha=.2+.6*(l[h]/Math.max(4,a)),e.fillRect(s.left+h*2,c,(f-h)*2,2)),h=f-1}e.globalAlpha=1}}function bn({strip:e,scale:t},s){let n=e.events[s],i=$e/e.levels[n.lane],o=D(t,n.start),r=L(e,e.phases.length+n.lane)+1+n.level*i,l=D(t,n.end)-o;return[o,r,Math.max(1.6,l-(l>4?.7:0)),Math.max(1.5,i-(e.levels[n.lane]>1?.8:0))]}function tl(e,t,s){let{strip:n,scale:i,laneColors:o}=t;e.beginPath(),n.events.forEach((r,l)=>{r.lane!==s||r.start>i.from+i.span||r.end<i.from-i.span/100||e.rect(...bn(t,l))}),e.fillStyle=o[s],e.globalAlpha=.85,e.fill(),e.globalAlpha=1}function el(e,{strip:t,scale:s,color:n}){let i=at(t)-Dt/2+1,o=sl(s.span*70/s.width);e.fillStyle=n("dim");for(let r=Math.ceil(s.from/o)*o;r<=s.from+s.span;r+=o){let l=D(s,r),a=b(r),c=e.measureText(a).width/2,h=Math.max(s.left+c,Math.min(s.left+s.width-c,l));e.textAlign="center",e.fillRect(l-.25,i-Dt/2-1,.5,3),Math.abs(h-l)<12&&e.fillText(a,h,i+1)}}function sl(e){let t=10**Math.floor(Math.log10(Math.max(1,e)));return[1,2,5,10].map(s=>s*t).find(s=>s>=e)??10*t}function nl(e,{strip:t,scale:s,color:n}){if(t.firstMatmul<0)return;let i=D(s,t.firstMatmul),o="first matmul",r=e.measureText(o).width;if(i<s.left-1||i>s.left+s.width)return;e.strokeStyle=e.fillStyle=n("text"),e.lineWidth=1,e.setLineDash([3,2]),ve(e,i,4,i,at(t)-Dt),e.setLineDash([]),e.textAlign="left";let l=i+4+r<s.left+s.width;e.fillText(o,l?i+4:i-4-r,ke/2)}function ve(e,t,s,n,i){e.beginPath(),e.moveTo(t,s),e.lineTo(n,i),e.stroke()}function il(e,t){let{strip:s,scale:n,color:i}=t;e.strokeStyle=e.fillStyle=i("select"),e.lineWidth=1.5;for(let o of t.kernels){let r=s.phases.indexOf(s.runPhases[K(s,o)]),l=D(n,o);e.fillRect(l-.5,L(s,r)-1,Math.max(2,D(n,o+1)-l),z+1)}s.events.forEach((o,r)=>t.lit(r)&&ye(e,t,r,r===t.current)),t.current>=0&&ye(e,t,t.current,!0),t.hover>=0&&t.hover!==t.current&&ye(e,t,t.hover,!0)}function ye(e,t,s,n){let{strip:i,scale:o}=t,r=i.events[s],[l,a,c,h]=bn(t,s);if(e.strokeRect(l-1,a-1,c+2,h+2),!n||r.firstUse<0)return;let f=D(o,r.firstUse+.5),d=i.phases.indexOf(i.runPhases[K(i,r.firstUse)]),u=L(i,i.phases.length+r.lane)+$e+3,m=f<=l+c;m||ve(e,l+c,u,f,u),ve(e,f,m?a-1:u,f,L(i,d)+z),e.beginPath(),e.moveTo(f,L(i,d)+z-6),e.lineTo(f-3.5,L(i,d)+z),e.lineTo(f+3.5,L(i,d)+z),e.fill()}var Me=12,ol=5,rl=520,ll=0;function yn(e){let t=p("section",{class:"schedule","aria-label":"Schedule"}),s=()=>{let{data:n}=e,i=n&&!n.header.graph?.missing?xn(n):null;if(!i?.size)return t.replaceChildren(p("p",{class:"nothing"},n?"No schedule: no kernel is known to run.":""));t.replaceChildren(...new je(e,i).parts)};return e.listen(n=>n.has("data")&&s()),e.data&&s(),t}var je=class{constructor(t,s){this.store=t,this.strip=s,this.data=t.data,this.view={from:0,span:Math.max(Me,s.size)},this.current=this.hover=-1,this.width=0,this.draw=Q(()=>this.paint());let{graph:n,axis_sets:i}=this.data.header;this.laneNames=s.lanes.map(o=>i[o]?.words??"unknown"),this.laneClasses=s.lanes.map(o=>M(i[o]?.axes??null,t.first.axes)),this.phaseNames=s.phases.map(o=>n.is_differentiated?n.phases[o]:"kernels"),this.labels=this.data.strings("graph.row.labels"),this.labelOf=new Map,this.lit=new Set,this.kernels=[],this.canvas=p("canvas",{"aria-hidden":"true"}),this.option=p("div",{class:"offscreen",role:"option",id:`pjit-strip-${++ll}`,"aria-selected":"true"}),this.box=this.makeBox(),this.tip=nt(this.box),this.parts=[this.head(),this.box],t.listen(o=>this.changed(o)),new ResizeObserver(()=>this.resize()).observe(this.box),this.follow()}makeBox(){return p("div",{class:"strip",role:"listbox",tabindex:0,"aria-label":"Collectives in the order of the schedule: left and right walk, up and down change the lane, plus and minus zoom, 0 shows all","aria-activedescendant":this.option.id,style:{height:`${at(this.strip)}px`},onkeydown:t=>this.key(t),onwheel:t=>this.wheel(t),onpointerdown:t=>this.grab(t),onpointermove:t=>this.point(t),onpointerleave:()=>this.leave()},this.canvas,this.option)}head(){let{size:t,isScheduled:s}=this.strip,i=`${s?"XLA's schedule":"order of the program's bytes, XLA fixed none"}; places count kernels, not time; ${b(t)} kernels`,o=(r,l,a)=>p("button",{type:"button",class:"button",title:l,"aria-label":l,onclick:a},r);return p("div",{class:"striphead"},p("h3",{},"Schedule"),p("span",{class:"dim stripwords",title:i},i),p("span",{class:"stripzoom"},o("\u2212","Zoom out (-)",()=>this.zoom(2)),o("+","Zoom in (+)",()=>this.zoom(.5)),o("All","Show all (0)",()=>this.show(0,t))))}resize(){this.width=this.box.clientWidth,this.draw()}changed(t){t.has("selection")&&this.follow(),["theme","pane","centre","wide"].some(s=>t.has(s))&&this.draw()}follow(){let{selection:t}=this.store.state,{strip:s}=this,n=l=>t?.type==="collective"&&l.row===t.row;(this.current<0||!n(s.events[this.current]))&&(this.current=s.events.findIndex(n)),this.lit=new Set(s.events.flatMap((l,a)=>n(l)?[a]:[])),this.kernels=t?.type==="kernel"?this.kernelsOf(2*t.row+1):[];let i=[...[...this.lit].map(l=>s.events[l].start),...this.kernels],{from:o,span:r}=this.view;i.length&&!i.some(l=>l>=o&&l<=o+r)&&this.show(i[0]-r/2,r),this.tell(),this.draw()}kernelsOf(t){let s=[];return this.data.column("graph.kernel.entity").forEach((n,i)=>n===t&&s.push(i)),s}tell(){let{strip:t,current:s}=this;this.option.textContent=s<0?`${b(t.events.length)} collectives; none selected`:be(t,s,this.data).join("; "),this.option.setAttribute("aria-setsize",String(t.events.length)),this.option.setAttribute("aria-posinset",String(s+1))}scale(){let t=this.width<rl?66:92;return{left:t,width:Math.max(1,this.width-t-10),...this.view,gap:0}}paint(){if(!this.width)return;let t=globalThis.devicePixelRatio||1,s=at(this.strip);this.canvas.width=this.width*t,this.canvas.height=s*t,Object.assign(this.canvas.style,{width:`${this.width}px`,height:`${s}px`});let n=this.canvas.getContext("2d");if(!n)return;n.scale(t,t);let i=getComputedStyle(this.canvas),o=r=>i.getPropertyValue(`--${r}`).trim()||"#888";wn(n,{strip:this.strip,scale:this.scale(),color:o,laneColors:this.laneClasses.map(o),laneNames:this.laneNames,phaseNames:this.phaseNames,label:r=>this.label(r),lit:r=>this.lit.has(r),kernels:this.kernels,current:this.current,hover:this.hover})}label(t){let s=this.labelOf.get(t)??this.labels.at(t);return this.labelOf.set(t,s),s}show(t,s){let n=Math.max(Me,this.strip.size),i=Math.max(Me,Math.min(n,s));this.view={from:Math.max(0,Math.min(n-i,t)),span:i},this.draw()}zoom(t,s){let{from:n,span:i}=this.view,o=this.strip.events[this.current],r=o&&o.start>=n&&o.start<=n+i,l=s??(r?o.start:n+i/2);this.show(l-(l-n)*t,i*t)}wheel(t){let s=t.ctrlKey||t.metaKey||t.shiftKey;if(!s&&Math.abs(t.deltaX)<=Math.abs(t.deltaY))return;t.preventDefault();let{width:n}=this.scale();s?this.zoom(1.0018**(t.deltaY||t.deltaX),this.place(t)):this.show(this.view.from+t.deltaX/n*this.view.span,this.view.span)}place(t){let{left:s,width:n,from:i,span:o}=this.scale();return i+(t.clientX-this.box.getBoundingClientRect().left-s)/n*o}grab(t){if(t.button)return;let{from:s,span:n}=this.view,{width:i}=this.scale(),o=!1;this.box.setPointerCapture(t.pointerId);let r=c=>{o||=Math.abs(c.clientX-t.clientX)>3,o&&this.show(s-(c.clientX-t.clientX)/i*n,n)},l=()=>{this.box.removeEventListener("pointermove",r),this.box.removeEventListener("pointerup",a),this.box.removeEventListener("pointercancel",l)},a=c=>{l(),o||this.pick(c)};this.box.addEventListener("pointermove",r),this.box.addEventListener("pointerup",a),this.box.addEventListener("pointercancel",l)}at(t){let{strip:s}=this,n=t.clientY-this.box.getBoundingClientRect().top,i=this.place(t),o=Math.floor(i),r=[...s.phases,...s.lanes].findIndex((h,f)=>n>=L(s,f)&&n<L(s,f)+z),{width:l,span:a}=this.scale();return r>=s.phases.length?{event:we(s,r-s.phases.length,i,ol*a/l),kernel:-1}:{event:-1,kernel:r>=0&&o>=0&&o<s.size&&s.runPhases[K(s,o)]===s.phases[r]?o:-1}}point(t){let s=this.at(t);this.box.style.cursor=s.event>=0||s.kernel>=0?"pointer":"",s.event!==this.hover&&this.draw(),this.hover=s.event;let n=s.event>=0?be(this.strip,s.event,this.data):s.kernel>=0?this.kernelLines(s.kernel):[];n.length?this.tip.show(n,t.clientX,t.clientY):this.tip.hide()}leave(){this.hover=-1,this.tip.hide(),this.draw()}kernelLines(t){let{strip:s,data:n}=this,i=K(s,t),o=this.phaseNames[s.phases.indexOf(s.runPhases[i])],r=Rt(s,i)-s.starts[i],l=n.strings("graph.labels").at(n.column("graph.kernel.label")[t]);return[`${this.label(s.rows[i])}, ${o}`,`kernel ${b(t)}: ${n.strings("graph.kernel.names").at(t)} (${l})`,`${b(r)} in a row here, from place ${b(s.starts[i])}`]}pick(t){let s=this.at(t);this.box.focus({preventScroll:!0}),s.event>=0?this.choose(s.event):s.kernel>=0&&this.chooseKernel(s.kernel)}choose(t){this.current=t;let{row:s,start:n}=this.strip.events[t],{from:i,span:o}=this.view;(n<i||n>i+o)&&this.show(n-o/2,o),s>=0&&this.store.select({type:"collective",row:s}),this.tell(),this.draw()}chooseKernel(t){let s=this.data.column("graph.kernel.entity")[t],n=this.data.column("graph.kernel.spot")[t];s>=0?this.store.select({type:s%2?"kernel":"collective",row:s>>1}):n>=0&&this.store.select({type:"line",row:n})}key(t){if(t.ctrlKey||t.metaKey||t.altKey)return;let{strip:s,current:n}=this,i=s.events.length-1,{from:o,span:r}=this.view,a={ArrowRight:Math.min(i,n+1),ArrowLeft:Math.max(0,n-1),Home:0,End:i,ArrowDown:this.inLane(1),ArrowUp:this.inLane(-1)}[t.key],c={"+":()=>this.zoom(.5),"=":()=>this.zoom(.5),"-":()=>this.zoom(2),0:()=>this.show(0,s.size),PageDown:()=>this.show(o+r*.8,r),PageUp:()=>this.show(o-r*.8,r)};a===void 0&&!c[t.key]||(t.preventDefault(),t.stopPropagation(),a===void 0?c[t.key]():i>=0&&this.choose(a))}inLane(t){let{strip:s,current:n}=this,i=s.events[Math.max(0,n)];for(let o=(i?.lane??0)+t;o>=0&&o<s.lanes.length;o+=t){let r=we(s,o,i.start,1/0);if(r>=0)return r}return Math.max(0,n)}};var J=16,It=[["source","Source"],["jaxpr","jaxpr"],["stablehlo","StableHLO"],["hlo","HLO"]];function vn(e){let t=It.map(([l,a])=>p("button",{type:"button",class:"chip","data-text":l,onclick:()=>al(e,l)},a)),s=p("div",{class:"textbar",role:"group","aria-label":"Which texts"},t),n=p("div",{class:"texts"}),i=[],o=()=>{let{shown:l}=e.state;t.forEach(a=>a.setAttribute("aria-pressed",String(l.includes(a.dataset.text??"")))),i=e.data?It.filter(([a])=>l.includes(a)).map(([a,c])=>new Se(e,a,c)):[],n.replaceChildren(...i.length?i.map(a=>a.box):[p("p",{class:"nothing"},e.data?"Choose a text above.":"")]),r()},r=()=>{let l=i.map(a=>a.hold);requestAnimationFrame(()=>{i.forEach((a,c)=>l[c]||a.follow()),i.forEach(a=>a.draw())})};return e.listen(l=>{l.has("data")||l.has("shown")||l.has("files")?o():["selection","pane","centre"].some(a=>l.has(a))?r():(l.has("hoverSpot")||l.has("wide"))&&i.forEach(a=>a.draw()),l.has("wide")&&e.set({shown:e.state.wide?It.map(([a])=>a):["source","hlo"]})}),o(),{bar:s,box:n}}function al(e,t){let s=e.state.shown.includes(t);e.set({shown:It.map(([n])=>n).filter(n=>n===t?!s:e.state.shown.includes(n))})}var Se=class{constructor(t,s,n){this.store=t,this.kind=s,this.hold=!1,this.first=this.last=-1,this.rows=[];let i=t.data;this.key=s==="source"?`source${t.state.files}`:s;let o=i.header.texts[this.key];this.lines=i.strings(`${this.key}.lines`),this.numbers=i.column(`${this.key}.numbers`),this.spots=i.column(`${this.key}.spots`),this.phases=i.column(`${this.key}.phases`),this.entities=i.column(`${this.key}.entities`);let r=o?.total??this.lines.length,l=this.lines.length<r?`${b(this.lines.length)} of ${S(r,"line")}`:S(r,"line");this.view=p("div",{class:"window"}),this.space=p("div",{class:"space",style:{height:`${this.lines.length*J+4}px`,"min-width":`calc(${Math.min(500,this.lines.longest())+8} * 1ch)`}},this.view),this.scroll=p("div",{class:"scroll",tabindex:0,role:"region","aria-label":n,onscroll:()=>this.draw()},this.space);let a=p("div",{class:"texthead"},p("b",{},n),s==="source"?this.files(i):p("span",{class:"dim",title:"Lines are numbered as in the whole text"},o?l:""),o?.how?p("span",{class:"dim guess",tabindex:0,role:"note",title:o.how,"aria-label":o.how},"matched by order"):null,o?.note?p("span",{class:"dim left",title:o.note},o.note):null);this.box=p("div",{class:o?"textpane":"textpane missing"},a,o?this.scroll:p("p",{class:"nothing"},i.header.missing[this.key]??"There is no such text.")),new ResizeObserver(()=>this.draw()).observe(this.scroll)}files(t){let s=Object.keys(t.header.texts).filter(i=>i.startsWith("source"));if(s.length<2)return p("span",{class:"dim code"},t.header.texts.source0?.name??"");let n=p("select",{"aria-label":"File",onchange:()=>this.store.set({files:Number(n.value)})},s.map((i,o)=>p("option",{value:o},t.header.texts[i].name)));return n.value=String(this.store.state.files),n}state(t,s){let{entity:n,spots:i,hover:o,strong:r}=s;if(n>=0&&this.entities[t]===n)return"is";let l=this.spots[t];return l<0?"":i.has(l)&&(s.phases===null||this.kind==="source"||this.phases[t]===0||s.phases.has(this.phases[t]))?this.kind==="source"||r?"is":"of":l===o?"hover":""}marks(){let{selection:t,hoverSpot:s}=this.store.state,n=t?.type==="collective"?2*t.row:t?.type==="kernel"?2*t.row+1:-1,i=t?.type==="collective"?this.store.data?.header.phases.indexOf(this.store.selected?.phase??"")??0:0;return{entity:n,spots:this.store.spots(),phases:i>0?new Set([i]):null,hover:s,strong:!1}}draw(){let t=this.scroll.scrollTop,s=this.scroll.clientHeight;if(!s)return;let n=Math.max(0,Math.floor(t/J)-4),i=Math.min(this.lines.length,Math.ceil((t+s)/J)+4),o=this.marks();if(n===this.first&&i===this.last){this.rows.forEach((l,a)=>{l.className!==this.style(n+a,o)&&(l.className=this.style(n+a,o))});return}let r=[];for(let l=n;l<i;l++)r.push(this.line(l,o));[this.first,this.last,this.rows]=[n,i,r],this.view.style.transform=`translateY(${n*J}px)`,this.view.replaceChildren(...r)}isLinked(t){return this.spots[t]>=0||this.entities[t]>=0}style(t,s){return`ln ${this.state(t,s)}${this.isLinked(t)?" linked":""}`}line(t,s){let n=this.spots[t],i=this.isLinked(t);return p("div",{class:this.style(t,s),onclick:i?()=>this.click(t):void 0,onmouseenter:n>=0?()=>this.store.set({hoverSpot:n}):void 0},p("span",{class:"no"},String(this.numbers[t])),p("bdi",{},this.lines.at(t)))}click(t){let s=this.entities[t];this.hold=!0,s>=0?this.store.select({type:s%2?"kernel":"collective",row:s>>1}):this.store.select({type:"line",row:this.spots[t]}),this.hold=!1}follow(){let t=this.marks();(t.entity>=0||t.spots.size)&&this.reveal(t)}reveal(t){let s=this.scroll.scrollTop/J,n=s+this.scroll.clientHeight/J-1;for(let o=Math.max(0,Math.ceil(s));o<Math.min(n,this.lines.length);o++)if(this.state(o,t)==="is")return;let i=this.firstOf(t);i>=0?this.scroll.scrollTop=Math.max(0,(i-4)*J):this.kind==="source"&&this.otherFile(t)}firstOf(t){let s=t.entity<0?-1:this.entities.indexOf(t.entity);if(s>=0)return s;let n=this.lines.length;for(let i of t.spots)for(let o=this.spots.indexOf(i);o>=0&&o<n;o=this.spots.indexOf(i,o+1))this.state(o,t)&&(n=o);return n<this.lines.length?n:-1}otherFile(t){let{data:s}=this.store,n=[...t.spots][0];if(!s||n===void 0)return;let i=s.column("spot_files")[n];i!==this.store.state.files&&`source${i}`in s.header.texts&&queueMicrotask(()=>this.store.set({files:i}))}};var kn="Sent per device and call, by mesh axis",cl=["axes","list","text","kind","cause","note"];function $n(e){let{first:t}=e,s=t.totals.map(i=>{let o=t.axis_sets[i.axes],r=`payload ${i.payload} (counted), sent ${i.sent} (modelled, ring)`,l=p("button",{type:"button",class:`total ${M(o.axes,t.axes)}`,"aria-pressed":"false",title:`${o.words}: ${r}; ${i.number} collectives`,onclick:()=>e.set({list:"collectives",axes:e.state.axes===i.axes?null:i.axes})},p("span",{class:"axisname"},o.words),p("span",{class:"track"},p("span",{class:"fill",style:{width:`${Math.max(.8,100*i.share)}%`}})),p("span",{class:"figure"},i.sent),p("span",{class:"count"},i.number));return{total:i,button:l}}),n=p("h3",{"aria-live":"polite"},kn);return e.listen(i=>cl.some(o=>i.has(o))&&hl(e,n,s)),p("section",{class:"totals","aria-label":"Sent per device and call, by mesh axis"},n,s.length?s.map(i=>i.button):p("p",{class:"dim"},"Nothing is sent."),t.memory.length?p("p",{class:"memory dim"},B(t.memory,t.axes)):null,t.measured?p("p",{class:"memory dim"},t.measured):null)}function hl(e,t,s){let{state:n,first:i}=e,{sums:o,number:r}=Ve(e.rows("collectives"),n.list==="collectives"?n:{...n,...N,list:"collectives"},i),l=n.list==="collectives"&&et({...n,axes:null});t.textContent=l?`Sent per device and call, ${b(r)} of ${b(i.counts[0])} collectives`:kn;for(let{total:a,button:c}of s){let[h,f]=o.get(a.axes)??[0,0],d=a.sent_bytes?h/a.sent_bytes:0;c.setAttribute("aria-pressed",String(n.axes===a.axes)),c.classList.toggle("faded",n.axes!==null&&n.axes!==a.axes);let[u,m,x]=[".fill",".figure",".count"].map(g=>c.querySelector(g));u.style.width=l?`${100*a.share*d}%`:`${Math.max(.8,100*a.share)}%`,u.style.minWidth=l&&!h?"0":"",m.textContent=l?k(Math.round(h)):a.sent,x.textContent=l?b(f):a.number}}var pl=256;function Mn(e){let t=p("canvas",{role:"img",tabindex:0,"aria-label":"Traffic between devices",onmousemove:a=>l(a),onmouseleave:()=>{s.textContent=""}}),s=p("p",{class:"tip","aria-live":"polite"}),n=p("div",{class:"busiest"}),i=p("div",{class:"traffic"},p("div",{class:"matrix"},t,s),n),o=null,r=()=>{let{data:a}=e;a&&(o??=dl(e),ul(t,o,i),n.childElementCount||n.append(...ml(e)))},l=a=>{if(!o)return;let c=t.getBoundingClientRect(),{count:h,per:f}=o,d=Math.floor((a.clientY-c.top-16)/(c.height-16)*h),u=Math.floor((a.clientX-c.left-28)/(c.width-28)*h);if(d<0||u<0||d>=h||u>=h)return;let[m,x]=[d,u].map(w=>fl(e,w,f)),g=k(Math.round(o.cells[d*h+u]));s.textContent=`${m} sends ${x} ${g} per call (modelled)`};return e.listen(a=>{["data","centre","pane","theme"].some(c=>a.has(c))&&e.state.centre==="traffic"&&requestAnimationFrame(r)}),new ResizeObserver(()=>e.state.centre==="traffic"&&r()).observe(i),i}function fl(e,t,s){let n=e.data?.column("mesh.ids")??[];return s===1?`device ${n[t]}`:`positions ${b(t*s)}\u2013${b((t+1)*s-1)}`}function dl(e){let t=e.data,s=e.first.mesh.size||1,n=Math.ceil(s/pl),i=Math.ceil(s/n),o=new Float64Array(i*i),[r,l,a]=["traffic.sources","traffic.targets","traffic.bytes"].map(c=>t.column(c));for(let c=0;c<r.length;c++)o[Math.floor(r[c]/n)*i+Math.floor(l[c]/n)]+=a[c];return{cells:o,count:i,per:n}}function ul(e,t,s){let n=Math.max(120,Math.min(s.clientWidth-40,s.clientHeight-60,34*t.count+28,460)),i=globalThis.devicePixelRatio||1;e.width=e.height=n*i,e.style.width=e.style.height=`${n}px`;let o=e.getContext("2d");if(!o)return;o.scale(i,i);let r=getComputedStyle(e),l=d=>r.getPropertyValue(`--${d}`).trim(),[a,c]=[(n-28)/t.count,(n-16)/t.count],h=0;for(let d of t.cells)h=Math.max(h,d);o.fillStyle=l("panel"),o.fillRect(28,16,n-28,n-16),o.fillStyle=l("select");for(let d=0;d<t.cells.length;d++)t.cells[d]&&(o.globalAlpha=.1+.9*Math.sqrt(t.cells[d]/h),o.fillRect(28+d%t.count*a,16+Math.floor(d/t.count)*c,Math.max(.7,a-(a>6?1:0)),Math.max(.7,c-(c>6?1:0))));o.globalAlpha=1,o.fillStyle=l("dim"),o.font="10px system-ui, sans-serif";let f=Math.max(1,Math.ceil((12+6*String(t.count*t.per).length)/a));for(let d=0;d<t.count;d+=f)o.textAlign="center",o.fillText(String(d*t.per),28+(d+.5)*a,11),o.textAlign="right",o.fillText(String(d*t.per),24,16+(d+.5)*c+3);e.setAttribute("aria-label",`Traffic between ${t.count} places of the mesh; the busiest links stand in the table`)}function ml(e){let t=e.data,[s,n,i]=["traffic.sources","traffic.targets","traffic.bytes"].map(c=>t.column(c)),o=t.column("mesh.ids");if(!s.length)return[p("p",{class:"nothing"},t.header.missing.hlo??"No device sends anything.")];let l=Array.from(i.keys()).sort((c,h)=>i[h]-i[c]).slice(0,24).map(c=>p("tr",{},p("td",{},`${o[s[c]]} \u2192 ${o[n[c]]}`),p("td",{class:"figure"},k(Math.round(i[c]))))),a=t.header.traffic_left_out;return[p("h3",{},"Busiest links, per call"),p("table",{class:"numbers"},l),p("p",{class:"dim small"},"Rows send, columns receive; numbers are positions in the mesh. Modelled: rings send to the next device of the group, an all-to-all an equal part to each; permutes are counted."),a?p("p",{class:"dim small"},`${b(a)} collectives are not in it: their groups are unknown or too many.`):""]}var xl=640,jn=[["list","List"],["details","Details"],["centre","Program"],["mesh","Mesh"]];function Te(e,t){let s=new kt(t);e.classList.add("pjit-inspector"),e.setAttribute("data-lm-suppress-shortcuts","true"),s.isNarrow=()=>e.clientWidth<=xl;let n=p("p",{class:"offscreen","aria-live":"polite"}),i=Y("Panes",jn,()=>s.state.pane,a=>s.set({pane:a}));i.bar.classList.add("panes");let o=bl(s),r=p("div",{class:t.counts[0]?"frame":"frame quiet"},hn(s),i.bar,dn(s),o,We(s),$n(s),mn(s),n);e.replaceChildren(r);let l=()=>{r.classList.toggle("wide",s.state.wide);for(let[a]of jn)r.classList.toggle(`pane-${a}`,s.state.pane===a)};return l(),s.listen(a=>{(a.has("pane")||a.has("wide"))&&l(),a.has("pane")&&i.update(),a.has("selection")&&(n.textContent=wl(s)),a.has("data")&&!s.state.selection&&s.select(gl(s),!0)}),e.addEventListener("keydown",a=>yl(s,e,a)),s}function gl(e){return e.rows("collectives").length?{type:"collective",row:0}:e.rows("arrays").length?{type:"array",row:0}:null}function wl(e){let t=e.selected;return t?[t.kind??t.role,t.what??t.name,t.sent??t.all??t.traffic].join(", "):e.selectionName()}function bl(e){let{bar:t,box:s}=vn(e),n={text:s,traffic:Mn(e),graph:cn(e,yn(e))},i=Y("What the middle shows",[["graph","Graph"],["text","Linked text"],["traffic","Traffic"]],()=>e.state.centre,l=>e.set({centre:l})),o=p("section",{class:"centre","aria-label":"Program"},p("div",{class:"centrebar"},i.bar,t),Object.values(n)),r=()=>{i.update();for(let[l,a]of Object.entries(n))a.hidden=l!==e.state.centre;t.hidden=e.state.centre!=="text"};return e.listen(l=>l.has("centre")&&r()),r(),o}function yl(e,t,s){let n=s.target;if(s.stopPropagation(),s.key==="Escape"){et(e.state)?e.set(N):e.select(null);return}if(s.ctrlKey||s.metaKey||s.altKey||n.matches("input, select, textarea"))return;let o={"/":()=>{e.set({pane:"list"}),t.querySelector(".filter")?.focus()},t:()=>e.set({centre:"text",pane:"centre"}),g:()=>e.set({centre:"graph",pane:"centre"}),m:()=>e.set({centre:"traffic",pane:"centre"}),w:()=>e.set({wide:!e.state.wide}),c:()=>rt(e,t.querySelector(".buttons .button"))}[s.key];o&&(s.preventDefault(),o())}function Sn(e){let t=()=>{let i=new URLSearchParams(location.hash.slice(1)),o={};["graph","text","traffic"].includes(i.get("view")??"")&&(o.centre=i.get("view")),["collectives","arrays","kernels"].includes(i.get("list")??"")&&(o.list=i.get("list")),["list","details","centre","mesh"].includes(i.get("pane")??"")&&(o.pane=i.get("pane")),i.has("wide")&&(o.wide=!0),i.has("theme")&&(document.documentElement.dataset.theme=i.get("theme")??""),e.set(o);let r=i.get("sel");r&&r!==e.selectionName()&&e.selectName(r)};t(),addEventListener("hashchange",t);let s=()=>{let i=new URLSearchParams(location.hash.slice(1));i.set("sel",e.selectionName()),i.set("view",e.state.centre),e.state.wide?i.set("wide",""):i.delete("wide");try{history.replaceState(null,"",`#${i}`)}catch{}},n=0;e.listen(i=>{["selection","centre","wide"].some(o=>i.has(o))&&(clearTimeout(n),n=setTimeout(s,120))})}var Tn=`.pjit-inspector .boxpane {
  position: absolute;
  inset: 0;
  z-index: 3;
  background: var(--bg);
  display: flex;
  flex-direction: column;
  min-width: 0;
  min-height: 0;
}
.pjit-inspector .boxhead {
  display: grid;
  grid-template-columns: minmax(0, 1fr) auto;
  gap: 2px 8px;
  padding: 6px 10px;
  border-bottom: 1px solid var(--rule);
  flex: none;
  align-items: center;
}
.pjit-inspector .boxtitle {
  font-size: 12px;
  color: var(--text);
  overflow: hidden;
  text-overflow: ellipsis;
  white-space: nowrap;
}
.pjit-inspector .boxbuttons {
  display: flex;
  gap: 4px;
}
.pjit-inspector .boxfacts {
  grid-column: span 2;
  font-size: 11px;
  line-height: 15px;
}
.pjit-inspector .boxbody {
  flex: 1;
  min-height: 0;
  overflow: auto;
}
.pjit-inspector .dag {
  display: block;
  margin: 0 auto;
  max-width: max(100%, calc(var(--dag-width) * 0.9));
  height: auto;
}
.dag .kernel {
  cursor: pointer;
  outline: none;
}
.dag .kernel rect {
  fill: var(--panel);
  stroke: var(--line);
  stroke-width: 1;
}
.dag .kernel .side {
  fill: var(--text);
  stroke: none;
}
.dag .move rect {
  fill: var(--bg);
  stroke: var(--c);
  stroke-width: 1.6;
}
.dag .move .title {
  fill: var(--c);
}
.dag .mixed rect:first-child {
  stroke-dasharray: 4 3;
}
.dag .stub rect {
  fill: var(--bg);
  stroke: var(--rule);
}
.dag text {
  fill: var(--text);
  font: 10px var(--code);
}
.dag .title {
  font: 600 11px var(--ui);
}
.dag .arg {
  font: italic 10px var(--ui);
}
.dag .name,
.dag .arg {
  fill: var(--dim);
}
.dag .kernel:hover rect:first-child {
  fill: var(--hover);
}
.dag .kernel[aria-selected="true"] rect:first-child {
  fill: var(--picked);
  stroke: var(--select);
  stroke-width: 2;
}
.dag .near rect:first-child {
  stroke: var(--select);
}
.dag .kernel:focus-visible rect:first-child {
  stroke: var(--select);
  stroke-width: 2.5;
}
.dag polyline {
  fill: none;
  stroke: var(--line);
  stroke-linejoin: round;
}
.dag .edge .tip {
  fill: var(--line);
}
.dag.chosen .edge:not(.lit) {
  opacity: 0.45;
}
.dag .lit polyline {
  stroke: var(--select);
}
.dag .lit .tip {
  fill: var(--select);
}
.pjit-inspector .boxlist {
  padding: 4px 0;
}
.pjit-inspector .boxrow {
  display: grid;
  grid-template-columns: 18px minmax(0, 1fr) minmax(0, 1.3fr) minmax(0, 1.3fr) 64px;
  gap: 8px;
  padding: 3px 10px;
  border-bottom: 1px solid var(--rule);
  cursor: pointer;
  align-items: center;
}
.pjit-inspector .noargs .boxrow {
  grid-template-columns: 18px minmax(0, 1fr) minmax(0, 1.3fr) 64px;
}
.pjit-inspector .noargs .boxrow .args {
  display: none;
}
.pjit-inspector .boxrow:hover {
  background: var(--hover);
}
.pjit-inspector .boxrow[aria-selected="true"] {
  background: var(--picked);
  box-shadow: inset 3px 0 var(--select);
}
.pjit-inspector .boxrow .glyph {
  color: var(--c);
}
.pjit-inspector .boxrow .name {
  overflow: hidden;
  text-overflow: ellipsis;
  white-space: nowrap;
}
.pjit-inspector .boxrow .size {
  text-align: right;
}
.pjit-inspector .boxrow.mixed .name:nth-child(2) {
  text-decoration: underline dashed var(--line);
  text-underline-offset: 3px;
}
.pjit-inspector .boxstubs {
  padding: 4px 10px;
  font-size: 11px;
}
@container (max-width: 640px) {
  .pjit-inspector .boxlist .boxrow {
    grid-template-columns: 18px minmax(0, 1fr) auto;
    gap: 0 8px;
  }
  .pjit-inspector .boxrow .size {
    grid-area: 1 / 3;
  }
  .pjit-inspector .boxrow .name.dim {
    grid-column: 2 / 4;
  }
  .pjit-inspector .boxrow .name.dim:empty {
    display: none;
  }
}
@media (forced-colors: active) {
  .dag .kernel[aria-selected="true"] rect:first-child {
    stroke: Highlight;
  }
}
`;var An=`.pjit-inspector {
  --ph-0: #3b6fb6;
  --ph-0-fill: #edf3fb;
  --ph-1: #7a4fb0;
  --ph-1-fill: #f4eefa;
  --ph-2: #b35f0c;
  --ph-2-fill: #fdf3e7;
  --ph-3: #2f8046;
  --ph-3-fill: #ecf6ee;
  --band: #fafbfc;
  --flow: #59626d;
  --in: #a34a00;
  --out: #0b57c4;
  --heat: #0b57a4;
}
@media (prefers-color-scheme: dark) {
  :root:not([data-theme="light"]) .pjit-inspector:not(.light),
  :host .pjit-inspector:not(.light) {
    --ph-0: #7aa9e6;
    --ph-0-fill: #1b2532;
    --ph-1: #bb97ec;
    --ph-1-fill: #261f33;
    --ph-2: #e2a05c;
    --ph-2-fill: #2f251a;
    --ph-3: #77c48b;
    --ph-3-fill: #1b2a1f;
    --band: #191c20;
    --flow: #a2abb6;
    --in: #ffb070;
    --out: #7db7ff;
    --heat: #5aa2f0;
  }
}
:root[data-theme="dark"] .pjit-inspector,
.pjit-inspector.dark {
  --ph-0: #7aa9e6;
  --ph-0-fill: #1b2532;
  --ph-1: #bb97ec;
  --ph-1-fill: #261f33;
  --ph-2: #e2a05c;
  --ph-2-fill: #2f251a;
  --ph-3: #77c48b;
  --ph-3-fill: #1b2a1f;
  --band: #191c20;
  --flow: #a2abb6;
  --in: #ffb070;
  --out: #7db7ff;
  --heat: #5aa2f0;
}
.pjit-inspector .graph {
  flex: 1;
  min-height: 0;
  min-width: 0;
  display: flex;
  flex-direction: column;
  position: relative;
}
.pjit-inspector .graphbar {
  display: flex;
  gap: 6px;
  align-items: center;
  padding: 4px 8px;
  border-bottom: 1px solid var(--rule);
  flex: none;
  min-width: 0;
  flex-wrap: wrap;
}
.pjit-inspector .graphbar .search {
  flex: 1 1 140px;
  min-width: 96px;
  max-width: 280px;
  padding: 2px 6px;
  background: var(--bg);
  border: 1px solid var(--line);
  border-radius: 4px;
  font-size: 11px;
}
.pjit-inspector .graphbar label {
  color: var(--dim);
  font-size: 11px;
  white-space: nowrap;
}
.pjit-inspector .graphbar .hits {
  color: var(--dim);
  font-size: 11px;
  white-space: nowrap;
  min-width: 44px;
}
.pjit-inspector .graphbar .tight {
  display: flex;
}
.pjit-inspector .graphbar .tight .button + .button {
  margin-left: -1px;
  border-radius: 0 4px 4px 0;
}
.pjit-inspector .graphbar .tight .button:first-child {
  border-radius: 4px 0 0 4px;
}
.pjit-inspector .graphbar .tight .button:not(:first-child):not(:last-child) {
  border-radius: 0;
}
.pjit-inspector .graphbar .push {
  margin-left: auto;
}
.pjit-inspector .graphbox {
  flex: 1;
  min-height: 0;
  overflow: auto;
  position: relative;
  background: var(--bg);
}
.pjit-inspector .graphbox.focused {
  box-shadow: inset 0 0 0 2px var(--select);
}
.pjit-inspector .graphspace {
  position: relative;
  min-height: 100%;
}
.pjit-inspector .graphstick {
  position: sticky;
  left: 0;
  top: 0;
  width: 0;
  height: 0;
  z-index: 1;
}
.pjit-inspector .graphstick canvas {
  display: block;
  cursor: default;
  touch-action: pan-x pan-y;
}
.pjit-inspector .graphstick canvas.link {
  cursor: pointer;
}
.pjit-inspector .graphstick canvas.grab {
  cursor: grabbing;
}
.pjit-inspector .graphfoot {
  flex: none;
  display: flex;
  flex-wrap: wrap;
  gap: 0 10px;
  padding: 2px 8px;
  max-height: 34px;
  overflow-y: auto;
  scrollbar-width: none;
  border-top: 1px solid var(--rule);
  font-size: 11px;
  line-height: 15px;
  color: var(--dim);
}
.pjit-inspector .graphfoot .key {
  white-space: nowrap;
}
.pjit-inspector .swatch {
  display: inline-block;
  width: 9px;
  height: 9px;
  border-radius: 2px;
  background: var(--c);
  margin-right: 4px;
  forced-color-adjust: none;
}
.pjit-inspector .swatch.bar {
  width: 4px;
  height: 11px;
  border-radius: 0;
  vertical-align: -1px;
}
@container (max-width: 640px) {
  .pjit-inspector .graphbar .search {
    min-width: 56px;
    flex-basis: 60px;
  }
  .pjit-inspector .graphbar .hits {
    min-width: 0;
  }
  .pjit-inspector .graphbar {
    padding: 4px;
    gap: 4px;
    flex-wrap: nowrap;
    overflow-x: auto;
    scrollbar-width: none;
  }
  .pjit-inspector .graphbar .button {
    padding: 1px 5px;
  }
  .pjit-inspector .graphbar .wideonly,
  .pjit-inspector .graphfoot .wideonly {
    display: none;
  }
}
@media (prefers-contrast: more) {
  .pjit-inspector {
    --ph-0-fill: var(--bg);
    --ph-1-fill: var(--bg);
    --ph-2-fill: var(--bg);
    --ph-3-fill: var(--bg);
    --band: var(--bg);
    --flow: var(--text);
  }
}
@media (forced-colors: active) {
  .pjit-inspector {
    --text: CanvasText;
    --dim: CanvasText;
    --line: CanvasText;
    --rule: CanvasText;
    --bg: Canvas;
    --panel: Canvas;
    --picked: Canvas;
    --strong: Canvas;
    --select: Highlight;
    --band: Canvas;
    --flow: CanvasText;
    --in: LinkText;
    --out: Highlight;
    --ax-0: CanvasText;
    --ax-1: CanvasText;
    --ax-2: CanvasText;
    --ax-3: CanvasText;
    --ax-many: CanvasText;
    --ax-none: CanvasText;
    --heat: Highlight;
    --ph-0: CanvasText;
    --ph-1: CanvasText;
    --ph-2: CanvasText;
    --ph-3: CanvasText;
    --ph-0-fill: Canvas;
    --ph-1-fill: Canvas;
    --ph-2-fill: Canvas;
    --ph-3-fill: Canvas;
  }
}
`;var On=`.pjit-inspector .schedule {
  flex: none;
  border-top: 1px solid var(--rule);
  min-width: 0;
  padding: 3px 0 2px;
}
.pjit-inspector .striphead {
  display: flex;
  gap: 8px;
  align-items: center;
  padding: 0 10px;
  height: 22px;
  min-width: 0;
}
.pjit-inspector .stripwords {
  flex: 1;
  min-width: 0;
  font-size: 11px;
  overflow: hidden;
  text-overflow: ellipsis;
  white-space: nowrap;
}
.pjit-inspector .stripzoom {
  display: flex;
  gap: 4px;
  flex: none;
}
.pjit-inspector .stripzoom .button {
  padding: 0 6px;
  min-width: 22px;
}
.pjit-inspector .strip {
  position: relative;
  overflow: hidden;
  touch-action: pan-y;
  user-select: none;
}
.pjit-inspector .strip canvas {
  position: absolute;
  inset: 0;
  display: block;
}
@container (max-width: 640px) {
  .pjit-inspector .striphead {
    height: auto;
    flex-wrap: wrap;
    gap: 2px 8px;
    justify-content: space-between;
  }
  .pjit-inspector .stripwords {
    order: 3;
    flex: 1 0 100%;
    white-space: normal;
  }
}
`;var En=`.pjit-inspector,
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
    "top top top" auto "list centre details" minmax(0, 1fr) "totals mesh details" 158px / 272px minmax(0, 1fr)
    300px;
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
.pjit-inspector h3 {
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
.pjit-inspector .answer {
  font-size: 14px;
  line-height: 20px;
  overflow-wrap: anywhere;
}
.pjit-inspector .notes {
  display: flex;
  gap: 6px;
  overflow-x: auto;
  scrollbar-width: none;
}
.pjit-inspector .note {
  max-width: 480px;
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
.pjit-inspector .list .tabs button {
  padding: 3px 5px;
  min-width: 0;
  overflow: hidden;
  text-overflow: ellipsis;
}
.pjit-inspector .filters {
  padding: 8px;
  display: grid;
  gap: 6px;
  border-bottom: 1px solid var(--rule);
  flex: none;
}
.pjit-inspector .filter {
  width: 100%;
  padding: 3px 6px;
  background: var(--bg);
  border: 1px solid var(--line);
  border-radius: 4px;
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
}
.pjit-inspector .tools select {
  min-width: 0;
  flex: 0 1 auto;
  padding: 1px 0;
}
.pjit-inspector .tools .shown {
  margin-left: auto;
  white-space: nowrap;
  font-size: 11px;
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
  max-width: calc(100% - 46px);
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
  stroke: var(--c);
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
  padding: 12px;
  display: flex;
  flex-direction: column;
  gap: 8px;
  min-width: 0;
}
.pjit-inspector .details > * {
  flex: none;
}
.pjit-inspector .sub {
  color: var(--dim);
}
.pjit-inspector .marks {
  display: flex;
  flex-wrap: wrap;
  gap: 4px;
}
.pjit-inspector .marks:empty {
  display: none;
}
.pjit-inspector .markchip {
  border: 1px solid var(--rule);
  border-radius: 3px;
  padding: 0 5px;
  font-size: 11px;
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
.pjit-inspector .suggestion {
  border-left: 3px solid var(--line);
  background: var(--panel);
  padding: 8px;
  display: grid;
  gap: 6px;
  overflow-wrap: anywhere;
}
.pjit-inspector .suggestion dd {
  text-align: left;
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
  grid-template-columns: minmax(60px, 88px) minmax(0, 1fr) auto 24px;
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
@container (max-width: 980px) {
  .pjit-inspector .frame:not(.wide) {
    grid-template:
      "top top" auto "list centre" minmax(0, 1fr)
      "details mesh" 158px "details totals" 132px / 260px minmax(0, 1fr);
  }
  .pjit-inspector .frame.quiet:not(.wide) {
    grid-template-rows: auto minmax(0, 1fr) 110px 74px;
  }
  .pjit-inspector .details {
    border-left: 0;
    border-right: 1px solid var(--rule);
    border-top: 1px solid var(--rule);
  }
  .pjit-inspector .totals {
    border-right: 0;
  }
  .pjit-inspector .list .tabs .count {
    display: none;
  }
  .pjit-inspector .mesh {
    grid-template-columns: minmax(0, 1fr) 140px;
  }
}
@container (max-width: 640px) {
  .pjit-inspector .frame,
  .pjit-inspector .frame:not(.wide),
  .pjit-inspector .frame.wide {
    grid-template: "top" auto "panes" auto "pane" minmax(0, 1fr) / minmax(0, 1fr);
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
  .pjit-inspector .title {
    flex-direction: column;
    gap: 4px;
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
`;var Cn=`.pjit-inspector .floating {
  position: absolute;
  z-index: 5;
  pointer-events: none;
  max-width: min(380px, calc(100% - 8px));
  background: var(--bg);
  border: 1px solid var(--line);
  border-radius: 4px;
  padding: 4px 8px;
  font-size: 11px;
  line-height: 15px;
  overflow-wrap: anywhere;
}
.pjit-inspector .floating bdi {
  display: block;
  max-height: 60px;
  overflow: hidden;
}
`;var Sl=[En,Cn,On,Tn,An].join(`
`);function Ln(e){let t=document.createElement("style");t.textContent=Sl,(e instanceof Document?e.head:e).append(t)}function zn(e,t){let s=()=>{t?.(),e.listeners.forEach(o=>o(new Set(["theme"])))},n=["(prefers-color-scheme: dark)","(prefers-contrast: more)","(forced-colors: active)"].map(o=>matchMedia(o));n.forEach(o=>o.addEventListener("change",s));let i=new MutationObserver(s);return t&&i.observe(document.body,{attributes:!0,attributeFilter:["data-jp-theme-light","data-jp-theme-name"]}),()=>{n.forEach(o=>o.removeEventListener("change",s)),i.disconnect()}}async function Tl(){let e=document.getElementById("pjit-inspector"),t=document.getElementById("pjit-first"),s=document.getElementById("pjit-blob");if(!e||!t||!s)return;let n=Te(e,JSON.parse(t.textContent??""));try{n.open(Gt(await Je(s.textContent??""))),Sn(n),zn(n),performance.mark("pjit-ready"),e.setAttribute("data-ready","true")}catch(i){e.append(Object.assign(document.createElement("p"),{className:"nothing",textContent:`The rest of this page could not be read: ${i}`}))}}function Al({model:e,el:t}){let s=t.attachShadow?t.attachShadow({mode:"open"}):t;Ln(s);let n=document.createElement("div");s.append(n);let i=()=>{let f=document.body.dataset.jpThemeLight;n.classList.toggle("light",f==="true"),n.classList.toggle("dark",f==="false")};i();let o=Te(n,JSON.parse(e.get("_first"))),r=zn(o,i),l=!1,a=()=>{let f=e.get("_blob");if(!f?.byteLength)return;l=!0;let d=f.buffer;o.open(Gt(d.slice(f.byteOffset,f.byteOffset+f.byteLength))),o.selectName(e.get("selection")),l=!1,n.setAttribute("data-ready","true")},c=()=>{if(l||!o.data)return;let f=o.selectionName();f!==e.get("selection")&&(e.set("selection",f),e.save_changes())},h=()=>{l=!0,o.selectName(e.get("selection")),l=!1};return o.listen(f=>f.has("selection")&&c()),e.on("change:_blob",a),e.on("change:selection",h),a(),()=>{r(),e.off("change:_blob",a),e.off("change:selection",h)}}typeof document<"u"&&document.getElementById("pjit-inspector")&&(Ln(document),Tl());var tp={render:Al};export{tp as default};
