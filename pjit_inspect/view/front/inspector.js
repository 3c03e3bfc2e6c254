var lr="http://www.w3.org/2000/svg",Ls={ArrowDown:1,ArrowRight:1,ArrowUp:-1,ArrowLeft:-1};function zs(e,t,s){let i=s[0]&&Object.getPrototypeOf(s[0])===Object.prototype,[n,o]=i?[s[0],s.slice(1)]:[{},s];t.length&&e.setAttribute("class",t.join(" "));for(let[r,a]of Object.entries(n))if(!(a==null||a===!1))if(r.startsWith("on"))e.addEventListener(r.slice(2),a);else if(r==="style")for(let[l,c]of Object.entries(a))e.style.setProperty(l,String(c));else e.setAttribute(r,a===!0?"":String(a));return e.append(...cr(o)),e}var cr=e=>e.flat(1/0).filter(t=>t!=null&&t!==!1);function p(e,...t){let[s,...i]=e.split("."),n=document.createElement(s);return s==="button"&&n.setAttribute("type","button"),zs(n,i,t)}function k(e,...t){let[s,...i]=e.split(".");return zs(document.createElementNS(lr,s),i,t)}var Bs=e=>e.map(([t,s])=>p("option",{value:t},s));function ct(e,t,s,i,n={}){let o={"aria-label":e,title:e,onchange:()=>i(r.value),...n},r=p("select",o,Bs(t));return r.value=String(s),r}var Te=(e,t)=>e.replaceChildren(...Bs(t));function Et(e,t,s){return s?e.key in Ls?Math.max(0,Math.min(s-1,t+Ls[e.key])):e.key==="Home"?0:e.key==="End"?s-1:null:null}function I(e,t,s,i){let n=t.map(([a,l,c])=>p("button",{role:"tab",title:c,"data-tab":a,onclick:()=>i(a)},l)),o=p("div.tabs",{role:"tablist","aria-label":e,onkeydown:a=>{let l=Et(a,t.findIndex(([c])=>c===s()),t.length);l!==null&&(a.preventDefault(),i(t[l][0]),n[l].focus())}},n),r=()=>{t.forEach(([a],l)=>{n[l].setAttribute("aria-selected",String(a===s())),n[l].tabIndex=a===s()?0:-1})};return r(),{bar:o,update:r}}function R(e){let t=!1;return()=>{t||(t=!0,requestAnimationFrame(()=>{t=!1,e()}))}}function Q(e,t,s={}){let i=p("button.button",{...s,onclick:()=>hr(i,e,t())},e);return i}async function hr(e,t,s){if(!s)return;let i=await pr(s)||dr(s,e);e.textContent=i?"Copied":"Copying was refused",setTimeout(()=>e.textContent=t,1500)}async function pr(e){let t=document.permissionsPolicy??document.featurePolicy;if(t&&!t.allowsFeature("clipboard-write"))return!1;try{return await navigator.clipboard.writeText(e),!0}catch{return!1}}function dr(e,t){let s=p("textarea.offscreen",{"aria-hidden":"true"});s.value=e,t.after(s),s.select();try{return document.execCommand("copy")}catch{return!1}finally{s.remove(),t.focus()}}var _s={B:1,KiB:1024,MiB:1048576,GiB:1073741824,TiB:1099511627776,PiB:0x4000000000000};function fr(e){return e<2**10?"B":e<2**20?"KiB":e<10*2**30?"MiB":e<10*2**40?"GiB":e<10*2**50?"TiB":"PiB"}function y(e){let t=fr(e),s=e/_s[t];return Number.isInteger(s)||s>=99.95?`${b(Ps(s))} ${t}`:`${Ws(s,s>=9.995?1:2)} ${t}`}function Ws(e,t){let s=10**t,i=Math.floor(e*s);return(i+.5)/s===e&&i%2===0?(i/s).toFixed(t):e.toFixed(t)}function Ps(e){let t=Math.floor(e);return e-t!==.5?Math.round(e):t%2?t+1:t}function b(e){return String(e).replace(/\B(?=(\d{3})+(?!\d))/g,",")}function j(e,t){return`${b(e)} ${t}${e===1?"":"s"}`}function Ce(e,t){let s=[];for(let o of[...e].sort((r,a)=>r-a)){let r=s[s.length-1];r&&o===r[1]+1?r[1]=o:s.push([o,o])}let i=t===void 0?s:s.slice(0,t);return i.map(([o,r])=>r-o>1?`${o}-${r}`:r>o?`${o} ${r}`:`${o}`).join(" ")+(i.length<s.length?" ...":"")}function D(e){let[t,s]=e<999.5?[1,"\xB5s"]:e<999500?[1e3,"ms"]:[1e6,"s"],i=e/t,n=i>=99.95?0:i>=9.995?1:2;return`${n?Ws(i,n):b(Ps(i))} ${s}`}function wt(e){let t=Math.min(5,Math.max(0,Math.floor(Math.log10(Math.max(1,e))/3))),s=e/1e3**t;return`${s>=100?b(Math.round(s)):Number(s.toPrecision(3))} ${["","K","M","G","T","P"][t]}FLOP`}function Lt(e){let t=Math.min(5,Math.floor(Math.log2(Math.max(1,e)*1.03)/10)),s=e/2**(10*t);return`${s>=9.95?Math.round(s):Number(s.toFixed(1))} ${Object.keys(_s)[t]}`}function ht(e){return`${Math.floor(100*e)}%`}function A(e,t){if(!e||!e.length)return"ax-none";if(e.length>1)return"ax-many";let s=t.indexOf(e[0].split(":(")[0]);return s<0||s>3?"ax-many":`ax-${s}`}function T(e,t){return e.map(s=>ur(s,t))}function ur(e,t){return typeof e=="string"?e:"strong"in e&&typeof e.strong=="string"?p("b",e.strong):"dim"in e?p("span.dim",e.dim):"name"in e?p("b.code",e.name):"code"in e?p("code",e.code):"axis"in e?zt(e.axis,e.axes,e.size,t):"number"in e?mr(e):""}function zt(e,t,s,i){return p("span",{class:`axis ${A(t,i)}`},s===null?e:`${e} ${s}`)}function mr(e){let t=e.unit?`${e.number}\xA0${e.unit}`:e.number,s=e.how==="counted"||!e.unit?void 0:e.how;return p(e.strong?"b":"span",{title:s},t)}function Rs(e,t){if(!e?.length)return null;let s=e.map(i=>p("li",T(i,t)));return p("details",p("summary",`${j(e.length,"fact")} behind it`),p("ul.facts",s))}var Gt=e=>p("dl.pairs",e.filter(([,t])=>t).map(([t,s])=>[p("dt",t),p("dd.code",s)]));var wr={asking:"Counted by XLA's partitioner; other changes in its place are still asked about",counted:"Counted as XLA's partitioner makes both programs",compiling:"Being compiled to the end",compiled:"Both programs were compiled to the end, and not run",fact:"A property of the program; nothing needs to be tried"};function Ns(e){let t=p("section.advicehead",{"aria-label":"What to change"}),s=()=>{if(t.hidden=!e.advice,!e.advice)return;let{answer:i,asked:n,rows:o,waits:r}=e.advice,[a]=o,l=p("p.said.advicewords",{role:"status"},T(i,e.first.axes),a&&a.state!=="fact"?[a.code?[": ",Fs(e,a)]:null,". ",T(a.sentence,e.first.axes)]:null,a?null:p("span.dim",`: ${n}`));l.title=[l.textContent,a?.code,a&&n].filter(Boolean).join(`
`),l.classList.toggle("waits",r);let c=p("button.button",{"data-key":"open",title:n,onclick:()=>e.set({centre:"advice",pane:"centre",wide:!1})},"Advice");Is(t,[l,a?.code?Ds(a,0,"Copy the change"):null,a?c:null])};return e.draws(["advice"],s),t}function Is(e,t){let{activeElement:s}=e.getRootNode(),i=s&&e.contains(s)?s.getAttribute("data-key"):null;e.replaceChildren(...t.filter(Boolean)),i&&e.querySelector(`[data-key="${i}"]`)?.focus()}var Ds=(e,t,s)=>Q(s,()=>e.code,{class:s==="Copy"?"button":"button primary","data-key":`copy${t}`,title:e.code}),Fs=(e,t)=>t.is_code?p("code",t.code):p("span",T(t.change,e.first.axes));function xr(e,t,s,i){let n=t.code?Ds(t,s,"Copy"):null;return p("div.advicechange",p("p.written",Fs(e,t)),n,i)}function Hs(e){let t=p("div.advice",{tabindex:0,role:"region","aria-label":"Advice"}),s=()=>{let{summary:i,rows:n,notes:o,waits:r}=e.advice??{summary:[],rows:[],notes:[]};Is(t,[p("p",{class:r?"waits":void 0},T(i,e.first.axes)),...n.map((a,l)=>gr(e,a,l)),...o.map(a=>p("p.dim.small",a))])};return e.draws(["advice","data"],s),t}function Us(e){let t=(a,l)=>p("button.button",{onclick:()=>e.set({isChanged:a})},l),s=[t(!1,"As is"),t(!0,"With the change")],n=p("div.switch",{role:"group","aria-label":"The program",title:"With the change: what it removes is left out, and what comes with it is told below."},s),o=!1,r=()=>{o||=e.removed.size>0||!!e.advice?.waits,n.hidden=!o||e.state.centre!=="graph",s.forEach(a=>a.toggleAttribute("disabled",!e.removed.size)),s.forEach((a,l)=>a.setAttribute("aria-pressed",String(!!l===e.state.isChanged)))};return e.draws(["advice","isChanged","centre"],r),n}function Ks(e){let t=p("p.brought.small",{role:"status"});return e.draws(["advice","isChanged","centre"],()=>{let[s]=e.advice?.rows??[];t.hidden=!s||!e.state.isChanged||e.state.centre!=="graph",t.title="As XLA's partitioner makes them, before its last passes.";let i=({axes:o,words:r,number:a,sent:l},c)=>[c?", ":" ",`${j(a,"collective")} over `,zt(r,o,null,e.first.axes),` (${l})`],n=s?.brings??[];t.replaceChildren(n.length?"Comes with the change:":"No collective comes with the change.",...n.flatMap(i))}),t}function qs(e){let t=p("span.count"),s=()=>{t.textContent=e.advice?.rows.length?` ${e.advice.rows.length}`:""};return e.draws(["advice"],s),t}function gr(e,t,s){let i=p("button.adviceplace",{"data-key":`place${s}`,onclick:()=>e.selectName(t.place)},p("code",t.place)),n=t.is_layout?`another layout ${t.saving}`:t.saving;return p("article.advicerow",{"aria-label":`Advice ${s+1}`},p("p.advicetitle",p("span.number",String(s+1)),p("b",t.saving?n[0].toUpperCase()+n.slice(1):"Worth knowing"),t.is_layout?p("span.dim","at these sizes"):null,t.is_after_others?p("span.dim","with those above"):null,t.place?i:null,p("span",{class:`known ${t.state}`,title:wr[t.state]},t.state)),t.change.length||t.code?xr(e,t,s,br(e,t,s)):null,p("p",T(t.sentence,e.first.axes)),t.state==="fact"?p("p",T(t.cost,e.first.axes)):vr(t),t.error?p("p.refused",{role:"alert"},t.error):null)}function br(e,t,s){return!e.ask||!t.can_check&&t.state!=="compiling"?null:p("button.button",{"data-key":`check${s}`,disabled:t.state==="compiling",title:"Compile the changed program to the end, run nothing, and count",onclick:()=>e.ask?.({type:"check",number:s})},t.state==="compiling"?"Compiling":"Compile")}function vr(e){return p("div.advicefigures",e.figures.map(t=>{let[s,i,n,o,r,a]=t;return p("div",p("p",`${s} ${i} \u2192 `,p("b",n),p("span.dim",o)),p("span.from",{style:{width:`${100*r}%`}}),p("span.to",{style:{width:`${100*a}%`}}))}),p("p",{class:e.cost==="costs nothing"?"dim":"costs"},e.cost))}var Xs={"all-reduce":"M9.5 2.5H3l3.2 3.7L3 10h6.5","all-gather":"M1.8 1.8h8.4v8.4H1.8zM6 1.8v8.4M1.8 6h8.4","reduce-scatter":"M6 1.5v4M6 5.5L2 10M6 5.5l4 4.5M6 5.5V10","all-to-all":"M1.5 3h2.2l4.6 6h2.2M1.5 9h2.2l4.6-6h2.2M9 1.5L10.5 3 9 4.5M9 7.5L10.5 9 9 10.5","ragged-all-to-all":"M1.5 3h2.2l4.6 6h2.2M1.5 9h2.2l4.6-6h2.2","collective-permute":"M1.5 4h8M7.5 2l2 2-2 2M10.5 8h-8M4.5 6l-2 2 2 2","collective-broadcast":"M2 6h3M5 6l4-4M5 6h4.5M5 6l4 4",kernel:"M2 3h8v6H2z",array:"M2 2.5h8M2 6h8M2 9.5h8M2 2.5v7M10 2.5v7",line:"M2 3h8M2 6h5M2 9h7"};function K(e,t=""){let s=Xs[e]??Xs.kernel;return k("svg",{class:`glyph ${t}`,viewBox:"0 0 12 12",width:13,height:13,"aria-hidden":"true"},k("path",{d:s}))}function Vt(e){let t=e.tiles.map((i,n)=>n);t.sort((i,n)=>+(e.tiles[i]===1)-+(e.tiles[n]===1)||e.shape[n]-e.shape[i]||i-n);let s=t.slice(0,2).sort((i,n)=>i-n);return s.length===2?[s[0],s[1]]:[null,s.length?s[0]:null]}function yr(e,t){return Math.max(e,t)<=8?[1,1]:[Math.ceil(e/4),Math.ceil(t/4)]}function Gs(e,t){let s=new Array(t.length);for(let i=t.length-1;i>=0;i--)s[i]=e%t[i],e=Math.floor(e/t[i]);return s}function Ee(e,t=Vt(e),s=e.tiles.map(()=>0)){let[i,n]=t,o=f=>f===null?1:e.tiles[f],r=yr(o(i),o(n)),a=Math.ceil(o(i)/r[0]),l=Math.ceil(o(n)/r[1]),c=e.tiles.map((f,u)=>u).filter(f=>f!==i&&f!==n),h=Array.from({length:a*l},()=>[]);for(let f=0;f<e.devices.length;f++){let u=Gs(e.tileOf[f],e.tiles);if(c.some(x=>u[x]!==s[x]))continue;let w=i===null?0:Math.floor(u[i]/r[0]),m=n===null?0:Math.floor(u[n]/r[1]);h[w*l+m].push(e.devices[f])}let d=h.map((f,u)=>({row:Math.floor(u/l),column:u%l,devices:f.sort((w,m)=>w-m)}));return{rowDim:i,columnDim:n,rows:a,columns:l,perBlock:r,depthDims:c,blocks:d}}function Vs(e,t){let s=kr(e,t);return s==="all"?[s]:s.split(", ").filter(i=>i!==":")}function kr(e,t){let s=Gs(e,t.tiles),i=t.shape.map((n,o)=>{let r=Math.ceil(n/t.tiles[o]),[a,l]=[Math.min(s[o]*r,n),Math.min((s[o]+1)*r,n)];return a===0&&l===n?":":`${a}:${l}`});return i.every(n=>n===":")?"all":i.join(", ")}var $r=0;function V(e,t,s){let i=e.header.shardings[t];if(!i)return null;let n=e.column("shardings.ends"),[o,r]=[t?n[t-1]:0,n[t]];return{shape:s,tiles:i.tiles,spec:i.spec,copies:i.copies,partial:i.partial,devices:e.column("sharding_devices").subarray(o,r),tileOf:e.column("sharding_tiles").subarray(o,r)}}function _t(e,t){let s=Ee(e,t.dims??Vt(e),t.behind),{width:i,height:n}=Ar(e,s,t.width??220),o=s.depthDims.length?9:0,r=e.isPartial||e.partial.length>0,a=r?2:Math.min(3,e.copies-1),l=Math.max(22,6+5.8*Ys(e,s).length),c=20+o,h=o+a*3.5+2,d=A([...new Set(Bt(e,s.rowDim).concat(Bt(e,s.columnDim)))],t.axes),f=A(e.partial,t.axes),u=[];o&&u.push(k("path.edge",{d:`M0 0l${o} ${-o}h${i}l${-o} ${o}M${i} ${n}l${o} ${-o}v${-n}`}));for(let M=a;M>0;M--){let _=o+M*3.5;u.push(k("rect",{class:r?`copy partial ${f}`:"copy",x:_,y:_-2*o,width:i,height:n}))}let w=`pjit-hatch-${$r++}`,m=r||e.copies>1;m&&u.unshift(jr(w,r?f:""));let[x,g]=[i/s.columns,n/s.rows],v=s.blocks.length-1||1;s.blocks.forEach((M,_)=>{let[N,G]=[M.column*x,M.row*g],Tt=s.blocks.length===1?.3:.22+.5*_/v,Xt=k("rect",{class:M.devices.length?`block ${d}`:"block empty",x:N,y:G,width:x,height:g,"fill-opacity":Tt});if(u.push(Xt),m&&M.devices.length&&u.push(k("rect",{x:N,y:G,width:x,height:g,fill:`url(#${w})`})),!M.devices.length)return;let Ct=k("rect.ring",{x:N+1,y:G+1,width:x-2,height:g-2});Yt.set(Ct,M.devices),u.push(Mr(N+x/2,G+g/2,Sr(M.devices,x-6)),Ct)}),u.push(...Or(e,s,i,n,o,t.axes));let S=Math.max(0,a*3.5-o)+3,$=[-l,-c,l+i+h+(s.depthDims.length?6:0),c+n+S];return k("svg.shards",{viewBox:$.join(" "),width:$[2],height:$[3],role:"img","aria-label":t.label},u)}var Yt=new WeakMap,Jt=e=>({...e,tileOf:e.tile_of,copies:new Set(e.tile_of).size>1?1:e.tile_of.length,isPartial:e.is_partial}),Zt={width:20,height:14};function Wt(e,t){let{width:s,height:i}=Zt,n=Ee({copies:1,partial:[],...e,devices:[],tileOf:[]}),o=e.isPartial||(e.partial??[]).length>0,r=o?e.partial??[]:[...new Set((e.spec??[]).flat())],[a,l]=[s/n.columns,i/n.rows],c=n.blocks.length-1||1,h=o||(e.copies??1)>1;return k("svg",{class:`thumb ${A(r,t)}`,width:s+4,height:i+4,"aria-hidden":"true"},h?k("rect",{class:o?"dashed":"",x:3.5,y:.5,width:s,height:i}):null,n.blocks.map(({row:d,column:f},u)=>k("rect",{class:o?"face dashed":"face",x:.5+f*a,y:3.5+d*l,width:a,height:l,"fill-opacity":n.blocks.length>1?.15+.55*u/c:o?.1:.3})))}function jr(e,t){return k("pattern",{id:e,width:5,height:5,patternUnits:"userSpaceOnUse",patternTransform:"rotate(45)"},k("path",{class:`hatch ${t}`,d:"M1 0V5"}))}function Mr(e,t,s){let i=s.length*6.2+6;return k("g",k("rect.label",{x:e-i/2,y:t-7,width:i,height:14,rx:2}),k("text",{x:e,y:t+3.7},s))}function Sr(e,t){for(let s of[void 0,3,2,1]){let i=Ce(e,s);if(i.length*6.2+6<=t)return i}return String(e[0])}function Bt(e,t){return t===null||!e.spec||e.tiles[t]===1?[]:e.spec[t]}function Ar(e,t,s){if(t.columnDim===null)return{width:44,height:30};let i=Math.max(...t.blocks.map(l=>Ce(l.devices,2).length))*6.2+12,n=t.columns*Math.min(t.columns<=4?60:30,i);if(t.rowDim===null)return{width:Math.min(Math.max(100,n),s),height:28};let o=(e.shape[t.columnDim]||1)/(e.shape[t.rowDim]||1),r=Math.exp(Math.max(-.5,Math.min(.5,Math.log(o)/4))),a=Math.max(62/r,t.rows*(t.rows<=4?20:16.5),44);return{width:Math.min(Math.max(86*r,n,52),s),height:a}}function Or(e,t,s,i,n,o){let r=[];for(let[a,l]of[[t.columnDim,!0],[t.rowDim,!1]]){if(a===null)continue;let c=Bt(e,a),h=A(c,o),[d,f]=l?[s,t.columns]:[i,t.rows];if(e.tiles[a]>1){let g=d/f,S=Array.from({length:f},($,M)=>[M*g+1.2,(M+1)*g-1.2]).map(([$,M])=>l?`M${$} ${-n-3}H${M}`:`M-3 ${$}V${M}`).join("");r.push(k("path",{class:`ruler ${h}`,d:S,transform:l?`translate(${n} 0)`:void 0}))}let u=c.length?`${e.shape[a]} ${c.join(" ")}`:e.tiles[a]>1&&e.tiles[a]<e.shape[a]?`${e.shape[a]} / ${e.tiles[a]}`:String(e.shape[a]),m=u.length<=3?{x:-12,y:i/2+4}:{x:-9,y:i/2,transform:`rotate(-90 -9 ${i/2})`},x=l?{x:(s+n)/2,y:-n-8}:m;r.push(k("text",{class:`dim ${h}`,...x},u))}if(t.depthDims.length){let a=Ys(e,t),l=t.depthDims.flatMap(c=>Bt(e,c));r.push(k("text",{class:`dim depth ${A(l,o)}`,x:-4,y:-n+1,"text-anchor":"end"},a))}return r}var Ys=(e,t)=>t.depthDims.map(s=>[e.shape[s],...Bt(e,s)].join(" ")).join(" \xD7 ");function Qt(e,t){let s=Vt(e),i=e.tiles.map(()=>0),n=p("div.picture"),o=()=>n.replaceChildren(_t(e,{...t,dims:s,behind:i}));if(o(),e.tiles.length<3)return p("div",n);let r=e.shape.map((u,w)=>[w,`${w}: ${u}`]),a=(u,w)=>ct(w,r,s[u],m=>{let[x,g]=[Number(m),s[1-u]],v=g===x?s[u]:g;s=u===0?[x,v]:[v,x],d()}),[l,c]=[a(0,"Dimension drawn down"),a(1,"Dimension drawn across")],h=p("div.sliders"),d=()=>{l.value=String(s[0]),c.value=String(s[1]),i.fill(0),h.replaceChildren(...e.tiles.map((u,w)=>u>1&&!s.includes(w)?f(w,u):null).filter(u=>u!==null)),o()},f=(u,w)=>{let m=p("span.dim",`1 of ${w}`),x=p("input",{type:"range",min:0,max:w-1,value:0,"aria-label":`Piece of dimension ${u}`,oninput:()=>{i[u]=Number(x.value),m.textContent=`${i[u]+1} of ${w}`,o()}});return p("label",`piece of ${u} `,x,m)};return d(),p("div",n,p("div.picker",p("label","down ",l),p("label","across ",c)),h)}function Js(e,t){let s=(r,a)=>p("figure",_t(Jt(r),{axes:t,width:84,label:`${a}: ${r.words}, ${r.caption}`}),p("figcaption",`${a}: ${r.caption}`,p("br"),p("code",r.words))),i=s(e.before,"before"),n=Number(i.querySelector("svg")?.getAttribute("height")??0),o={class:"arrow","aria-hidden":"true",style:{"margin-top":`${Math.max(16,n/2-8)}px`}};return p("div.moves",p("div.pair",i,p("span",o,"\u2192"),s(e.after,"after")),p("p.dim.small",e.note))}var Tr="PJITVIEW",Cr={i4:Int32Array,u1:Uint8Array,u4:Uint32Array,f8:Float64Array,s4:Uint32Array},Le=class{constructor(t,s){this.bytes=t,this.ends=s,this.length=s.length,this.decoder=new TextDecoder}at(t){let s=t?this.ends[t-1]:0;return this.decoder.decode(this.bytes.subarray(s,this.ends[t]))}longest(){let t=0;for(let s=0,i=0;s<this.length;i=this.ends[s++])t=Math.max(t,this.ends[s]-i);return t}};function Zs(e){let t=new TextDecoder;if(t.decode(new Uint8Array(e,0,8))!==Tr)throw new Error("this is no inspector data");let[s,i]=new Uint32Array(e,8,2);if(s!==1)throw new Error(`inspector data of version ${s}; this page reads version 1`);let n=JSON.parse(t.decode(new Uint8Array(e,16,i))),o=16+i,r=new Set,a=h=>h in n.columns,l=h=>{if(!a(h))return new Int32Array(0);let[d,f,u]=n.columns[h],w=new Cr[d](e,o+f,u);if(d!=="s4"||r.has(h))return w;r.add(h);for(let m=1;m<u;m++)w[m]+=w[m-1];return w};return{header:n,column:l,strings:h=>new Le(l(h),l(`${h}.ends`)),has:a}}function E(e,t){return[t?e[t-1]:0,e[t]??0]}function Qs(e){let t=atob(e.trim()),s=new Uint8Array(t.length);for(let i=0;i<t.length;i++)s[i]=t.charCodeAt(i);return s}async function ti(e){let t=new Blob([e]).stream().pipeThrough(new DecompressionStream("deflate"));return await new Response(t).arrayBuffer()}function te(e){let t=e.trim().match(/^\/(.+)\/$/);if(t)try{let i=new RegExp(t[1],"i");return n=>i.test(n)}catch{return()=>!1}let s=e.toLowerCase().split(/\s+/).filter(Boolean);return s.length?i=>{let n=i.toLowerCase();return s.every(o=>n.includes(o))}:null}function ei(e){let[t,s,i]=["spot_files","spot_lines","spot_functions"].map(h=>e.column(h)),{files:n,functions:o,texts:r}=e.header,a=new Map,l=h=>{if(!r[`source${h}`])return()=>"";let d=e.strings(`source${h}.lines`);return f=>f>0&&f<=d.length?d.at(f-1):""},c=new Map;return h=>{if(h<0||h>=t.length)return"";let d=t[h];if(a.has(d)||a.set(d,l(d)),!c.has(h)){let f=a.get(d)(s[h]);c.set(h,`${n[d]}:${s[h]} ${o[i[h]]??""} ${f}`)}return c.get(h)}}var ze="alive:",pt=e=>({type:e%2?"kernel":"collective",row:e>>1}),ee=class{constructor(t,s={}){this.first=t,this.data=null,this.state={list:"collectives",centre:t.has_graph?"graph":"text",pane:"centre",wide:!1,text:"",axes:null,kind:null,role:null,cause:null,note:null,isChanged:!1,sort:"",reversed:!1,heat:"selection",device:null,selection:null,files:0,shown:s.texts??["source","hlo"],hoverSpot:-1,stale:""},this.memory=null,this.memoryError="",this.readMemory=null,this.awaited="",this.advice=t.advice,this.removed=new Set(t.advice?.rows[0]?.removes),this.isReading=!1,this.followed=null,this.ask=null,this.listeners=[],this.isNarrow=()=>!1,this.usesOf=()=>({collectives:[],kernels:[]}),this.walk=()=>{},this.closers=[],this.spotWords=()=>"",this.graphNeed=()=>({height:0,isFlow:!1})}listen(t){this.listeners.push(t)}tell(...t){this.listeners.forEach(s=>s(new Set(t)))}draws(t,s){this.listen(i=>t.some(n=>i.has(n))&&s()),s()}set(t){let i=Object.keys(t).filter(n=>this.state[n]!==t[n]);Object.assign(this.state,t),i.length&&this.tell(...i)}open(t){this.data=t,this.spotWords=ei(t),this.tell("data")}async openMemory(t){if(!(!this.readMemory||this.isReading)){this.isReading=!0;try{this.memory=t(await this.readMemory())}catch(s){this.memoryError=`What is alive in memory could not be read: ${s}`}this.tell("memory"),this.awaited&&this.set({stale:this.selectName(this.awaited)?"":this.awaited}),this.awaited=""}}setAdvice(t){this.advice=t,this.removed=new Set(t.rows[0]?.removes),this.tell("advice")}goes(t){return!!t?.names?.length&&t.names.every(s=>this.removed.has(s))}rows(t){return t==="buffers"?this.memory?.rows??[]:this.data?this.data.header[t]??[]:t==="collectives"?this.first.collectives:[]}get selected(){let{selection:t}=this.state;return!t||t.type==="line"?null:this.rows(`${t.type}s`)[t.row]??null}select(t,s=!1){let i=this.state.selection;if(i?.type===t?.type&&i?.row===t?.row)return;let n=this.asListed(t),o=n&&n.type!=="line"?{list:`${n.type}s`}:{};this.set({selection:t,...s?{}:{stale:""},...o})}selectKernel(t){let[s,i]=["entity","spot"].map(n=>this.data?.column(`graph.kernel.${n}`)[t]??-1);s>=0?this.select(pt(s)):i>=0&&this.select({type:"line",row:i})}asListed(t){return t?.type==="buffer"?this.rows("buffers")[t.row]?.own??null:t}get listed(){return this.asListed(this.state.selection)}spots(){let{selection:t}=this.state;return t?t.type==="line"?new Set([t.row]):new Set(this.selected?.spots??[]):new Set}selectionName(){let{selection:t}=this.state;if(!t||!this.data)return"";if(t.type==="line")return this.spotName(t.row);let s=this.selected;return s&&t.type==="buffer"?`${ze}${s.names[0]??s.name}`:s?t.type==="array"?s.name:s.names[0]??"":""}spotName(t){if(!this.data)return"";let s=this.data.header.files[this.data.column("spot_files")[t]];return s===void 0?"":`${s}:${this.data.column("spot_lines")[t]}`}selectName(t){if(!t)return this.select(null),!0;if(t.startsWith(ze))return this.selectAlive(t);for(let i of["collective","kernel","array"]){let n=this.rows(`${i}s`).findIndex(o=>i==="array"?o.name===t||o.names.includes(t):o.names?.includes(t));if(n>=0)return this.select({type:i,row:n}),!0}let s=this.data?.column("spot_lines").length??0;for(let i=0;i<s;i++)if(this.spotName(i)===t)return this.select({type:"line",row:i}),!0;return!1}selectAlive(t){if(!this.memory)return this.readMemory?(this.awaited=t,this.set({centre:"memory",pane:"centre"}),!0):!1;let s=t.slice(ze.length),i=this.rows("buffers").findIndex(n=>n.names.includes(s)||n.name===s);return i>=0&&this.select({type:"buffer",row:i}),i>=0}};function Er(e,t){return[t.kind,t.what,t.name,t.place,t.cause,t.phase,...t.causes??[],t.array,t.spec,t.target,...t.names??[],...(t.lines??[]).flat(),...(t.spots??[]).map(s=>e.spotWords(s)),t.axes===void 0?"":e.first.axis_sets[t.axes]?.words].filter(Boolean).join(" ")}function si(e,t){let s=te(t);return s?i=>s(Er(e,i)):()=>!0}function ii(e,t,s){let{note:i=null}=t;return i!==null&&s.notes[i].list===t.list&&!e.notes?.includes(i)||t.list==="collectives"&&((t.cause??null)!==null&&!e.causes.includes(t.cause)||t.axes!==null&&e.axes!==t.axes||t.kind!==null&&e.kind!==t.kind)?!1:t.list!=="arrays"||t.role===null||e.role===t.role}var ni=7,Lr="smaller, unnamed",se=class{constructor(t,s){this.blob=t;let{header:i}=t;this.header=i,this.spaces=i.spaces,this.kinds=i.kinds,this.kernels=i.kernels,this.hasCurve=i.kernels>0;let n=o=>t.column(o);this.groupOf=n("value.group"),this.kindOf=n("value.kind"),this.scopeOf=n("value.scope"),this.makerOf=n("value.maker"),this.userOf=n("value.user"),this.ends=n("value.ends"),this.from=n("span.from"),this.to=n("span.to"),this.rows=i.groups,this.rows.forEach(o=>Object.assign(o,{values:[],kernels:[],spots:[],own:null})),this.groupOf.forEach((o,r)=>this.rows[o].values.push(r));for(let o of this.rows){let r=l=>o.values.map(c=>l[c]);o.kernels=[...new Set([...r(this.makerOf),...r(this.userOf)])].filter(l=>l>=0);let a=r(this.makerOf).map(l=>s.data?.column("graph.kernel.spot")[l]??-1);o.spots=[...new Set(a)].filter(l=>l>=0),o.own=zr(o,this.makerOf[o.values[0]]??-1,s)}this.made=new Map}total(t){return this.blob.column(`bytes.${t}`)}spans(t){let[s,i]=E(this.ends,t);return Array.from({length:i-s},(n,o)=>[this.from[s+o],this.to[s+o]])}bands(t,s){let i=`${t} ${s}`,n=this.made.get(i);if(n)return n;let o=s==="kind"?this.kindParts():this.scopeParts(t),r=this.total(t).slice(),a=[];for(let{name:l,color:c,has:h}of o){let d=this.sum(t,h);d.some(Boolean)&&(d.forEach((f,u)=>r[u]-=f),a.push({name:l,color:c,bytes:d}))}return r.some(Boolean)&&a.push({name:Lr,color:"mem-rest",bytes:r}),this.made.set(i,a),a}kindParts(){return this.kinds.map((t,s)=>({name:t,color:`mem-${s}`,has:i=>this.kindOf[i]===s}))}scopeParts(t){let{peak:s,first:i,end:n}=this.spaces[t],o=new Map;for(let w=i;w<n;w++){let m=this.isAlive(w,s)?this.rows[this.groupOf[w]].bytes:0;o.set(this.scopeOf[w],(o.get(this.scopeOf[w])??0)+m)}let r=this.header.scopes,a=new Intl.Collator("en",{numeric:!0}),l=[...o.keys()].filter(w=>r[w]).sort((w,m)=>o.get(m)-o.get(w)),c=l.slice(0,ni).sort((w,m)=>a.compare(r[w],r[m])),h=new Set(l.slice(ni)),d=c.map((w,m)=>({name:r[w],color:`scope-${m}`,has:x=>this.scopeOf[x]===w})),f={name:"no scope",color:"mem-0",has:w=>!r[this.scopeOf[w]]},u={name:j(h.size,"other scope"),color:"mem-1",has:w=>h.has(this.scopeOf[w])};return[f,...d,u]}sum(t,s){let{first:i,end:n}=this.spaces[t],o=new Float64Array(this.kernels+1);for(let r=i;r<n;r++){if(!s(r))continue;let a=this.rows[this.groupOf[r]].bytes,[l,c]=E(this.ends,r);for(let h=l;h<c;h++)o[this.from[h]]+=a,o[this.to[h]+1]-=a}for(let r=1;r<o.length;r++)o[r]+=o[r-1];return o.subarray(0,this.kernels)}life(t){let{values:s}=this.rows[t],i=this.spaces.findIndex(({first:o,end:r})=>s[0]>=o&&s[0]<r),n=new Set(s);return this.sum(Math.max(0,i),o=>n.has(o))}isAlive(t,s){let[i,n]=E(this.ends,t);for(let o=i;o<n;o++)if(this.from[o]<=s&&s<=this.to[o])return!0;return!1}alive(t,s){let{first:i,end:n}=this.spaces[t],o=new Map;for(let r=i;r<n;r++)this.hasCurve&&!this.isAlive(r,s)||o.set(this.groupOf[r],(o.get(this.groupOf[r])??0)+1);return this.ranked(o)}all(t){let{first:s,end:i}=this.spaces[t],n=new Map;for(let o=s;o<i;o++)n.set(this.groupOf[o],(n.get(this.groupOf[o])??0)+1);return this.ranked(n)}ranked(t){return[...t].map(([s,i])=>({group:s,count:i,bytes:i*this.rows[s].bytes})).sort((s,i)=>i.bytes-s.bytes||s.group-i.group)}};function zr(e,t,s){let i=t<0?-1:s.data?.column("graph.kernel.entity")[t]??-1;if(i>=0)return pt(i);let n=s.rows("arrays").findIndex(o=>o.role==="input"&&(o.name===e.name||o.names.includes(e.name)));return n<0?null:{type:"array",row:n}}function oi(e,t){let i=e.rows[t].values.map(r=>e.spans(r).reduce((a,[l,c])=>a+c-l+1,0)),[n,o]=[Math.min(...i),Math.max(...i)];return!e.hasCurve||!o?"":n===e.kernels?`all ${j(e.kernels,"kernel")}`:n===o?j(o,"kernel"):`${b(n)} to ${j(o,"kernel")}`}function ai(e,{numbers:t,placeLink:s}){let i=e.selected,n=e.memory,{first:o,state:r}=e,a=n.kinds[i.kind],l=V(n.blob,i.sharding,i.shape),c=n.spaces[0].peak,h=n.alive(0,c).find(u=>u.group===r.selection?.row),d=h&&n.hasCurve?h.bytes/n.total(0)[c]:0,f=n.header.source;return[p("h2.code",p("bdi",i.name)),p("p.sub",p("span",{class:`swatch mem-${i.kind}`}),` ${[a,i.number>1&&j(i.number,"buffer"),i.layers&&`layers ${i.layers}`].filter(Boolean).join(", ")}`),l?Qt(l,{axes:o.axes,label:`${i.name}: ${i.array}, ${i.spec}`}):"",p("p.small",i.spec==="not known"?p("span.dim","Its spec is not known. "):[p("code",i.spec),i.array?[" of ",p("code",i.array)]:"",". "],p("code",i.local)," on each device."),t([...i.unpadded?[["its elements",i.unpadded,"counted"]]:[],["each, on one device",i.each,i.unpadded?"with padding":f],...i.number>1?[[`all ${b(i.number)}`,y(i.number*i.bytes),f]]:[],...h?[["at the peak",y(h.bytes),d?`${f}, ${ht(d)}`:f]]:[["at the peak","none",f]]]),...Br(e,n,i),...i.place?[p("h3","Source"),p("p",s(e,i.place))]:[],..._r(i)]}function Br(e,t,s){let i=oi(t,e.state.selection?.row??0);if(!i)return[];let n=s.values[0],o=["argument","optimizer state"].includes(t.kinds[s.kind]),r=[o?p("li","an argument: there from the beginning"):null,ri(e,"made by",t.makerOf[n],s.names[0],s.made,o),ri(e,"last used by",t.userOf[n],s.users[0],s.last)].filter(Boolean),a=s.turns?[p("li",`${b(s.turns)} turns of a loop each write a part of it`)]:[];return[p("h3","Its life: ",i,s.number>1?" each":""),p("ul.facts",r,a),s.number>1&&r.length?p("p.dim.small","The first of them is named."):""]}function ri(e,t,s,i,n,o=!1){return s<0&&(!i||o)?null:s<0?p("li",`${t} `,p("code",i)):p("li",`${t} kernel ${b(s)}, `,p("button.link.code",{onclick:()=>e.selectKernel(s)},i??"its kernel"),n?`, ${n}`:"")}function _r(e){return e.could.length?[p("h3","What it could be"),p("ul.facts",e.could.map(t=>p("li",t)))]:[]}var Wr=260;function li(e){let t=p("section.details",{"aria-label":"Details",tabindex:0}),s=()=>{let{selection:i,list:n}=e.state,r=e.data&&n==="arrays"&&!["array","line","buffer"].includes(i?.type??"")?Pr(e):i===null||!e.data?Nr(e):null;t.replaceChildren(...r??Ir[i.type](e))};return e.listen(i=>{i.has("selection")&&requestAnimationFrame(()=>{t.scrollTop=0}),["selection","data","list"].some(n=>i.has(n))&&s()}),s(),t}var Be=60;function Pr(e){let{data:t,first:s}=e,i=e.rows("arrays").map((o,r)=>[o,r]).filter(([o])=>o.role==="input"),n=i.slice(0,Be).map(([o,r])=>{let a=t&&V(t,o.sharding,o.shape),l=o.number>1?` \xD7 ${b(o.number)}`:"";return p("button.small-multiple",{title:`${o.name}
${o.array} ${o.spec}`,onclick:()=>e.select({type:"array",row:r})},a?_t(a,{axes:s.axes,width:58,label:`${o.array}, ${o.spec}`}):p("span.dim","?"),p("b.code",p("bdi",o.name),l),p("code",o.spec))});return[p("h2",j(i.reduce((o,[r])=>o+r.number,0),"argument")),p("p.dim.small","How each is split. Numbers in blocks are devices: click one to follow it."),p("div.multiples",n),...i.length>Be?[p("p.dim.small",`${i.length-Be} more in the list`)]:[]]}function Rr(e,t){let{collectives:s,kernels:i}=e.usesOf(t),n=e.rows("collectives"),o=[];return s.length&&o.push(p("h3",`${j(s.length,"collective")} of it alone`),p("ul.places.uses",s.slice(0,12).map(r=>p("li",p("button.link",{onclick:()=>e.select({type:"collective",row:r})},K(n[r].kind),` ${n[r].kind} over ${e.data?.header.axis_sets[n[r].axes].words}`),p("span.dim",` ${n[r].sent}`))))),i.length&&o.push(p("h3","Read by"),p("ul.places.uses",i.slice(0,12).map(({words:r,place:a,count:l})=>p("li",p("code",r),l>1?p("span.times",` \xD7 ${b(l)} `):" ",a?ne(e,a):null)),i.length>12?p("li.dim",`and ${i.length-12} more`):null)),o}function Nr(e){let t=e.first.memory.length?[p("p",T(e.first.memory,e.first.axes))]:[],s=e.first.times.length?[p("p.dim",T(e.first.times,e.first.axes))]:[],i=e.first.measured?[p("p",e.first.measured)]:[];return[p("h2","Nothing selected"),p("p.dim","Choose a row, a line or a device. \u2191 \u2193 walk the list."),...t,...i,...s]}var Ir={collective:Fr,array:qr,kernel:Xr,line:Gr,buffer:Dr};function Dr(e){return ai(e,{numbers:ie,placeLink:ne})}function Fr(e){let t=e.selected,{axes:s}=e.first,i=e.data?.header.axis_sets[t.axes];return[p("h2",{class:A(i.axes,s)},K(t.kind)," ",T(t.title,s)),p("p.sub.code",p("bdi",t.what)),p("div.marks",t.chips.map(n=>p("span.markchip",n))),...Hr(t,s),ie(t.numbers),Gt([["moves",t.moves],[t.kind==="collective-permute"?"from, to":"groups",t.groups_words],["at the same time",t.beside]]),...Ur(e,t),...ci(t.names,t.number)]}function Hr(e,t){let s=e.reasons.flatMap(n=>[...n.sentences.map(o=>p("p.cause",T(o,t))),...[Rs(n.facts,t)].filter(o=>o!==null)]);if(!e.picture)return s;let i=(s[0]?.textContent??"").length<=Wr?1:0;return[...s.slice(0,i),Js(e.picture,t),...s.slice(i)]}function ie(e){return p("table.numbers",e.map(([t,s,i],n)=>{let o=s.lastIndexOf(" "),[r,a]=o>1&&!s.startsWith("\xD7")?[s.slice(0,o),s.slice(o+1)]:[s,""];return p("tr",{class:n===e.length-1?"sum":void 0},p("th",{scope:"row"},t),p("td.figure",r),p("td.unit",a),p("td.how",i))}))}function Ur(e,t){if(!t.lines?.length)return[];let s=Kr(t.lines).map(({where:i,line:n,all:o},r)=>p("li",{title:o.length>1?o.join(`
`):void 0},ne(e,i),o.length>1?p("span.times",` \xD7 ${b(o.length)}`):null,r?p("span.dim"," (caller)"):null,n?p("code.line",n):null));return[p("h3","Source"),p("ul.places",s)]}function Kr(e){let t=new Map;for(let[s,i]of e){let n=i?`${s.slice(0,s.lastIndexOf(":"))}
${i}`:s,o=t.get(n);o?o.all.push(s):t.set(n,{where:s,line:i,all:[s]})}return[...t.values()]}function ne(e,t){let s=e.data?.column("spot_lines").length??0;for(let i=0;i<s;i++)if(e.spotName(i)===t)return p("button.link.code",{onclick:()=>e.select({type:"line",row:i})},t);return p("code",t)}function ci(e,t){let s=e.filter(Boolean);if(!s.length)return[];let i=s.slice(0,8).join(", ")+(t>8?` and ${b(t-8)} more`:"");return[p("h3",`In the HLO (${j(t,"instruction")})`),p("p.code.names",i)]}function qr(e){let t=e.selected,{data:s,first:i}=e,n=s&&V(s,t.sharding,t.shape),o=t.copies===null?"copies unknown":t.copies===1?"no copies":`${b(t.copies)} copies of each element`,r=`${t.name}: ${t.array}, ${t.spec}, ${o}`;return[p("h2.code",p("bdi",t.name)),p("p.sub",t.role,t.number>1?`, ${b(t.number)} alike`:"",t.place?`, ${t.place}`:"",t.phase?`, ${t.phase}`:""),n?Qt(n,{axes:i.axes,label:r}):p("p.dim",t.fate[0]??"Its sharding is unknown."),p("p.small",`${o}. `,p("code",t.spec)),ie([["per device",t.each,t.each==="unknown"?"unknown":"counted"],["copies of each element",t.copies===null?"unknown":`\xD7 ${t.copies}`,t.copies===null?"unknown":"counted"],[t.number>1?`all ${t.number}, per device`:"in all, per device",t.all,t.all==="unknown"?"unknown":"counted"]]),Gt([["global",t.array],["local, per device",t.local]]),t.fate.length?p("ul.facts",t.fate.map(a=>p("li",T(a,i.axes)))):"",...Rr(e,t),t.names.length?p("p.code.names",t.names.slice(0,40).join(", ")):""]}function Xr(e){let t=e.selected,s=t.contains.map(([n,o])=>p("li",p("code",n),o>1?` \xD7 ${o}`:"")),i=(n,o)=>n.join(", ")+(o?` and ${o} more`:"");return[p("h2",K("kernel")," ",t.target||`${t.kind} fusion`),p("p.sub.code",p("bdi",t.what)),t.place?p("ul.places",p("li",ne(e,t.place))):"",ie(t.numbers),p("h3","Contains"),s.length?p("ul.opcodes",s):p("p.dim","What it contains is unknown."),Gt([["reads",i(t.inputs,t.inputs_more)],["writes",i(t.outputs,0)]]),...ci(t.names,t.number)]}function Gr(e){let t=e.state.selection?.row??-1,i=["collective","kernel","array"].map(n=>({type:n,rows:e.rows(`${n}s`).map((o,r)=>[o,r]).filter(([o])=>o.spots.includes(t))})).filter(({rows:n})=>n.length).flatMap(({type:n,rows:o})=>[p("h3",`${j(o.length,n)} of this line`),p("ul.places",o.slice(0,30).map(([r,a])=>p("li",p("button.link",{onclick:()=>e.select({type:n,row:a})},K(n==="collective"?r.kind:n)," ",r.what??r.name),p("span.dim",` ${r.sent??r.traffic??r.each}`))))]);return[p("h2.code",e.spotName(t)),...i.length?i:[p("p.dim","No collective, kernel or array is of this line.")]]}var W={text:"",axes:null,kind:null,cause:null,role:null,note:null,isChanged:!1},hi=["forward","backward","recompute","optimizer"],pi=new Intl.Collator("en",{numeric:!0}),fi={collectives:[["size","bytes"],["time","time"],["name","name"],["count","count"],["place","place"],["phase","phase"]],arrays:[["given","role"],["size","bytes"],["name","name"],["count","count"],["place","place"]],kernels:[["size","bytes"],["time","time"],["name","name"],["count","count"],["place","place"]]};function xt(e){return Object.keys(W).some(s=>(e[s]??null)!==W[s])}function re(e,t){let s=fi[e.list].map(([i])=>i);return s.includes(e.sort)?e.sort:t.measured&&s.includes("time")?"time":s[0]}function dt(e,t=e.state){let{first:s}=e,i=si(e,t.text),n=e.rows(t.list).map((r,a)=>[r,a]).filter(([r])=>ii(r,t,s)&&i(r)&&!(t.isChanged&&e.goes(r))),o=re(t,s);return o!=="given"&&n.sort(([r,a],[l,c])=>Vr[o](r,l)||a-c),t.reversed?n.reverse():n}var Vr={size:(e,t)=>oe(t)-oe(e),time:(e,t)=>(t.time_us??-1)-(e.time_us??-1),count:(e,t)=>t.number-e.number,name:(e,t)=>pi.compare(e.name??e.what,t.name??t.what),place:(e,t)=>+!e.place-+!t.place||pi.compare(e.place??"",t.place??""),phase:(e,t)=>di(e)-di(t)||oe(t)-oe(e)};function ui(e,t){return fi[e].filter(([s])=>s!=="time"||t.some(i=>i.time_us!==void 0))}function oe(e){return e.sent_bytes??e.bytes??0}function di(e){let t=hi.indexOf(e.phase);return t<0?hi.length:t}function mi(e,t){let s=new Map,i=0;for(let[n]of dt(e,{...t,axes:null})){let[o,r]=s.get(n.axes)??[0,0];s.set(n.axes,[o+n.sent_bytes,r+n.number]),i+=n.number}return{sums:s,number:i}}function gt(e,t,s){let i=[...e],n=i.indexOf(t.target),o=t.key==="Enter"||t.key===" "?n:Et(t,n,i.length);n<0||o===null||(t.preventDefault(),t.stopPropagation(),i[o].focus(),s(i[o]))}function ae(e,t){for(let s of e.querySelectorAll('[role="option"]:is([aria-selected="true"], [tabindex="0"])'))s.setAttribute("aria-selected","false"),s.setAttribute("tabindex","-1");(t??e.querySelector('[role="option"]'))?.setAttribute("tabindex","0"),t?.setAttribute("aria-selected","true")}function bt(e,t,s=0){let[i,n]=[e.getBoundingClientRect(),t.getBoundingClientRect()],[o,r]=[i.left+e.clientWidth,i.top+e.clientHeight];n.top<i.top?e.scrollTop-=i.top-n.top+s:n.bottom>r&&(e.scrollTop+=n.bottom-r+s),n.left<i.left?e.scrollLeft-=i.left-n.left+s:n.right>o&&(e.scrollLeft+=n.right-o+s)}function ft(e,t){let{data:s}=e,i=t.collective<0?-1:s?.column("graph.collective.row")[t.collective]??-1;i>=0?e.select({type:"collective",row:i}):t.entity>=0?e.select(pt(t.entity)):t.spot>=0&&e.select({type:"line",row:t.spot})}function vt(e,t){let{listed:s}=e;return!s||s.type==="array"?!1:s.type==="line"?t.entity<0&&t.collective<0&&t.spot===s.row:s.type==="collective"&&t.collective>=0?e.data?.column("graph.collective.row")[t.collective]===s.row:t.entity===2*s.row+ +(s.type==="kernel")}function Pt(e){let t=e.closest(".boxbody");t&&bt(t,e,8)}function wi(e,t,s,i){if(!(e.ctrlKey||e.metaKey||e.altKey))return{Home:0,End:s.length-1,Enter:t," ":t,ArrowDown:le(s,i,t,0,1),ArrowUp:le(s,i,t,0,-1),ArrowRight:le(s,i,t,1,0),ArrowLeft:le(s,i,t,-1,0)}[e.key]}function le(e,t,s,i,n){let o=d=>[d.x+d.width/2,d.y+d.height/2],[r,a]=o(e[s]),l=new Set(t.flatMap(([d,f])=>n>0&&d===s?[f]:n<0&&f===s?[d]:[])),c=s,h=1/0;return e.forEach((d,f)=>{let[u,w]=o(d),m=(u-r)*i+(w-a)*n,x=Math.abs((u-r)*n)+Math.abs((w-a)*i);if(f===s||m<=1||i&&x>d.height+e[s].height)return;let g=m+2*x-(l.has(f)?1e5:0);g<h&&([c,h]=[f,g])}),c}var _e=14;function q(e){let t=p("div.floating",{"aria-hidden":"true",hidden:!0});return{show(s,i,n){let o=e.closest(".frame");if(!o||!s.length)return;t.parentNode!==o&&o.append(t),t.replaceChildren(...s.map((f,u)=>p(u?"p":"b",{},p("bdi",f)))),t.hidden=!1;let r=o.getBoundingClientRect(),{offsetWidth:a,offsetHeight:l}=t,c=Math.max(4,Math.min(i-r.left+_e,r.width-a-4)),h=n-r.top+_e,d=h+l+4>r.height?n-r.top-l-_e:h;t.style.left=`${c}px`,t.style.top=`${Math.max(4,d)}px`},hide(){t.hidden=!0}}}var yt=class{constructor(t,s){this.store=t,this.data=t.data,this.edges=s,this.current=-1,this.arrows=[],this.groups=[]}assemble(t,s,i,[n,o,r]){this.picture=i;let[a,l]=[i.width+2*n,i.height+r];this.wires=k("g.wires",this.arrows);let c=`${-n} ${-o} ${a} ${l}`,h={"--dag-width":`${a}px`},f=k(t,{role:"listbox","aria-label":s,viewBox:c,width:a,height:l,style:h},this.wires,this.groups);return f.addEventListener("keydown",u=>this.key(u)),this.tip=q(f),f}arrow(t,s){let[i,n]=t[t.length-1];return k("g.edge",k("polyline",{points:t.map(o=>o.join(",")).join(" "),"stroke-width":s}),k("path.tip",{d:`M${i-3.5} ${n-5.5}h7L${i} ${n}z`}))}node(t,s,i,n,...o){let r={class:`kernel ${s}`,role:"option",tabindex:t?-1:0,"aria-label":i.join("; "),"aria-selected":"false",transform:`translate(${n.x} ${n.y})`,onclick:()=>this.choose(t,!0),onpointermove:a=>this.tip?.show(i,a.clientX,a.clientY),onpointerleave:()=>this.tip?.hide()};return k("g",r,o)}isOn(t){return!1}choose(t,s){}goTo(t){this.tip?.hide(),this.current=t,this.groups[t].focus({preventScroll:!0})}update(){(this.current<0||!this.isOn(this.current))&&(this.current=this.groups.findIndex((t,s)=>this.isOn(s))),this.mark()}mark(){let t=new Set;this.edges.forEach(([s,i],n)=>{let o=this.current>=0&&(s===this.current||i===this.current);o&&t.add(s).add(i),this.arrows[n].classList.toggle("lit",o),o&&this.wires?.append(this.arrows[n])}),this.wires?.parentElement?.classList.toggle("chosen",this.current>=0),this.groups.forEach((s,i)=>{s.setAttribute("aria-selected",String(i===this.current||this.isOn(i))),s.classList.toggle("near",t.has(i)&&i!==this.current),s.setAttribute("tabindex",i===Math.max(0,this.current)?"0":"-1")})}key(t){let s=this.groups.findIndex(n=>n===t.target),i=s<0||!this.picture?void 0:wi(t,s,this.picture.boxes,this.edges);i!==void 0&&(t.preventDefault(),t.stopPropagation(),this.choose(i,i===s&&(t.key==="Enter"||t.key===" ")))}};function xi(e,t){let s=[...e].slice(0,200),i=s.length,n=e.length>200?s.join(""):e;for(;i>4&&!t(n);){i-=1;let o=s.slice(s.length-Math.floor(i*.55)).join("");n=`${s.slice(0,Math.ceil(i*.45)).join("")}\u2026${o}`}return n}function bi(e,t){let s=Jr(e.length,t),i={rows:[],layer:s,count:e.length,width:e.map(n=>n.width),height:e.map(n=>n.height),box:e.map(n=>n.box??n.width),port:e.map(n=>n.port),source:e.map((n,o)=>o),up:e.map(()=>[]),down:e.map(()=>[]),x:[]};for(let[n,o]of Yr(t))Qr(i,n,o);return i.layer.forEach((n,o)=>(i.rows[n]??=[]).push(o)),i}function Yr(e){let t=new Map;for(let[s,i]of e)t.set(s,(t.get(s)??new Set).add(i));return[...t].sort((s,i)=>s[0]-i[0])}function Jr(e,t){let s=Zr(e,t),{next:i,before:n}=vi(e,t),o=new Array(e).fill(0);for(let r of s)for(let a of i[r])o[a]=Math.max(o[a],o[r]+1);for(let r of s)!n[r].length&&i[r].length&&(o[r]=i[r].reduce((a,l)=>Math.min(a,o[l]),1/0)-1);return o}function vi(e,t){let s=Array.from({length:e},()=>[]),i=s.map(()=>[]);for(let[n,o]of t)s[n].push(o),i[o].push(n);return{next:s,before:i}}function Zr(e,t){let{next:s,before:i}=vi(e,t),n=i.map(r=>r.length),o=n.flatMap((r,a)=>r?[]:[a]);for(let r=0;r<o.length;r++)for(let a of s[o[r]])--n[a]===0&&o.push(a);if(o.length<e)throw new Error(`edges run in a circle through node ${n.findIndex(r=>r>0)}: expected none`);return o}function Qr(e,t,s){let i=[...s].reduce((o,r)=>Math.max(o,e.layer[r]),0),n=t;for(let o=e.layer[t]+1;o<=i;o++){for(let a of s)e.layer[a]===o&&gi(e,n,a);if(o===i)return;let r=e.layer.push(o)-1;e.width.push(0),e.height.push(0),e.box.push(0),e.port.push(void 0),e.source.push(t),e.up.push([]),e.down.push([]),gi(e,n,r),n=r}}function gi(e,t,s){e.down[t].push(s),e.up[s].push(t)}function $i(e){let t=new Array(e.layer.length).fill(0);e.rows.forEach(n=>ji(n,t));let s=e.rows.map(n=>[...n]),i=ki(e,t);for(let n=0,o=0;n<10&&o<3&&i;n++){ta(e,t,n%2===0),sa(e,t);let r=ki(e,t);o=r<i?0:o+1,r<i&&([s,i]=[e.rows.map(a=>[...a]),r])}e.rows=s}function ji(e,t){e.forEach((s,i)=>{t[s]=i})}function ta(e,t,s){let{rows:i}=e,n=s?e.up:e.down;for(let o=1;o<i.length;o++){let r=s?o:i.length-1-o,a=i[r],l=a.length/i[s?r-1:r+1].length,c=new Map(a.map(h=>[h,n[h].length?(ea(n[h],t)+.5)*l:t[h]+.5]));a.sort((h,d)=>c.get(h)-c.get(d)||t[h]-t[d]),ji(a,t)}}function ea(e,t){let s=0;for(let i of e)s+=t[i];return s/e.length}function sa(e,t){for(let s of e.rows)for(let i=1;i<s.length;i++){let[n,o]=[s[i-1],s[i]];[e.up,e.down].reduce((a,l)=>a+yi(l[n],l[o],t)-yi(l[o],l[n],t),0)<=0||([s[i-1],s[i]]=[o,n],[t[n],t[o]]=[i,i-1])}}function yi(e,t,s){let i=0;for(let n of e)for(let o of t)s[n]>s[o]&&i++;return i}function ki(e,t){let s=0;for(let i=1;i<e.rows.length;i++)s+=ia(e,e.rows[i-1],e.rows[i].length,t);return s}function ia(e,t,s,i){let n=new Int32Array(s+1),o=0,r=0;for(let a of t){let l=e.down[a].map(c=>i[c]);for(let c of l){o+=r;for(let h=c+1;h>0;h-=h&-h)o-=n[h]}for(let c of l)for(let h=c+1;h<=s;h+=h&-h)n[h]++;r+=l.length}return o}function Ai(e){let{rows:t}=e;e.x=new Array(e.layer.length).fill(0);for(let i of t)na(e,i);for(let i=0;i<6;i++){let n=i%2?[...t].reverse():t;for(let o of n)ra(e,o,i>=4?[e.up,e.down]:[i%2?e.down:e.up])}Mi(e),Mi(e);let s=e.x.reduce((i,n,o)=>Math.min(i,n-e.width[o]/2),1/0);e.x=e.x.map(i=>i-s)}function ce(e,t,s){let i=+(t>=e.count)+ +(s>=e.count);return(e.width[t]+e.width[s])/2+[18,12,9][i]}function na(e,t){let s=0;t.forEach((i,n)=>{e.x[i]=s+=n?ce(e,t[n-1],i):0});for(let i of t)e.x[i]-=s/2}function oa(e,t,s){return[1,2,8][+(t>=e.count)+ +(s>=e.count)]}function ra(e,t,s){let i=[],n=[0];t.forEach((r,a)=>{a&&n.push(n[a-1]+ce(e,t[a-1],r));let[l,c]=aa(e,r,s);for(i.push({sum:(l-n[a])*c,weight:c,count:1});i.length>1&&We(i[i.length-2])>We(i[i.length-1]);){let h=i.pop(),d=i[i.length-1];d.sum+=h.sum,d.weight+=h.weight,d.count+=h.count}});let o=0;for(let r of i)for(let a=0;a<r.count;a++,o++)e.x[t[o]]=We(r)+n[o]}function We(e){return e.sum/e.weight}function aa(e,t,s){let i=0,n=0;for(let o of s)for(let r of o[t]){let a=oa(e,t,r);i+=a*e.x[r],n+=a}return n?[i/n,n]:[e.x[t],.1]}function Mi(e){let t=new Map(e.rows.flatMap(i=>i.map((n,o)=>[n,o]))),s=e.rows.flat().filter(i=>i>=e.count&&e.up[i][0]<e.count);for(let i of s){let n=-1/0,o=1/0,r=[];for(let a=i;a!==void 0;a=e.down[a].find(l=>l>=e.count)){let[l,c]=la(e,a,t.get(a));(l>o||c<n)&&(Si(e,r,n,o),[r,n,o]=[[],-1/0,1/0]),r.push(a),[n,o]=[Math.max(n,l),Math.min(o,c)]}Si(e,r,n,o)}}function la(e,t,s){let i=e.rows[e.layer[t]],n=s?e.x[i[s-1]]+ce(e,i[s-1],t):-1/0,o=s+1<i.length?e.x[i[s+1]]-ce(e,t,i[s+1]):1/0;return[Math.min(n,e.x[t]),Math.max(o,e.x[t])]}function Si(e,t,s,i){if(!t.length)return;let n=e.x[e.up[t[0]][0]],o=t.reduce((a,l)=>a+e.x[l],0)/t.length,r=n>=s&&n<=i?n:Math.max(s,Math.min(i,o));for(let a of t)e.x[a]=r}function Ti(e,t){let s=ha(e),i=e.rows.map(h=>fa(e,h,s)),n=i.map(h=>ua([...h.values()])),o=ca(e,n),r=Array.from({length:e.count},(h,d)=>{let f=o[e.layer[d]];return{x:e.x[d]-e.width[d]/2,y:f.top+(f.height-e.height[d])/2}}),a=t.map(([h,d])=>ma(e,r,i,o,h,d)),l=e.x.reduce((h,d,f)=>Math.max(h,d+e.width[f]/2),0),c=o[o.length-1];return{boxes:r,routes:a,width:l,height:c.top+c.height}}function ca(e,t){let s=0;return e.rows.map((i,n)=>{let o=i.reduce((a,l)=>Math.max(a,e.height[l]),0),r=s;return s+=o+18+6*Math.max(0,t[n]-1),{top:r,height:o}})}function Ci(e,t,s){return Math.max(t,Math.min(s,e))}function Pe(e,t){let i=e.x[t]-e.width[t]/2+e.box[t]/2,n=Math.max(0,e.box[t]/2-10);return[i-n,i+n]}function ha(e){let t=e.x.map((i,n)=>pa(e,n)),s=e.up.map((i,n)=>da(e,n,i,t));return{below:t,above:s}}function pa(e,t){let s=e.port[t];if(s!==void 0)return e.x[t]-e.width[t]/2+s;let i=e.x[t];if(t>=e.count||!e.down[t].length)return i;let[n,o]=Pe(e,t),a=e.down[t].map(l=>Ci(i,...Pe(e,l))).filter(l=>l>=n&&l<=o).sort((l,c)=>Math.abs(l-i)-Math.abs(c-i));return a.length?a[0]:i}function da(e,t,s,i){let[n,o]=Pe(e,t),r=[...s].sort((c,h)=>i[c]-i[h]||c-h),a=r.length>1?Math.min(9,(o-n)/(r.length-1)):0,l=r.map(c=>Ci(i[c],n,o));for(let c=1;c<l.length;c++)l[c]=Math.max(l[c],l[c-1]+a);for(let c=l.length-1,h=o;c>=0;c--,h-=a)l[c]=Math.min(l[c],h);return new Map(r.map((c,h)=>[c,l[h]]))}function fa(e,t,s){let i=new Map;for(let n of t){if(!e.down[n].length)continue;let o=new Map(e.down[n].map(a=>[a,s.above[a].get(n)??0])),r=[s.below[n],...o.values()];i.set(n,{top:s.below[n],ends:o,low:Math.min(...r),high:Math.max(...r),track:-1})}return i}function ua(e){let t=e.filter(o=>o.high-o.low>.01),s=t.map(o=>t.reduce((r,a)=>a===o?r:r+Oi(o,a)-Oi(a,o),0)),i=t.map((o,r)=>r).sort((o,r)=>s[o]-s[r]||t[o].low-t[r].low||o-r),n=0;return i.forEach((o,r)=>{let a=t[o];a.track=0;for(let l of i.slice(0,r))t[l].low-4<a.high&&a.low<t[l].high+4&&(a.track=Math.max(a.track,t[l].track+1));n=Math.max(n,a.track+1)}),n}function Oi(e,t){if(e.low>t.high||t.low>e.high)return 0;let s=t.top>e.low&&t.top<e.high?1:0;for(let i of e.ends.values())i>t.low&&i<t.high&&(s+=1),Math.abs(i-t.top)<2&&(s+=20);return s}function ma(e,t,s,i,n,o){let r=[o];for(let l=o;l!==n;r.push(l))l=e.up[l].find(c=>e.source[c]===n)??n;r.reverse();let a=[];for(let l=0;l+1<r.length;l++){let c=e.layer[r[l]],h=s[c].get(r[l]),d=i[c],f=h.ends.get(r[l+1])??0;if(l===0&&a.push([h.top,t[n].y+e.height[n]]),Math.abs(f-h.top)<.01)continue;let u=d.top+d.height+9+6*h.track;a.push([h.top,u],[f,u])}return a.push([a[a.length-1][0],t[o].y]),a}var Ei=22,wa=1200;function he(e,t={}){xa(e);let s=ga(e).map(i=>ba(e,i));return va(e,s,t.width??wa)}function xa({nodes:e,edges:t}){let s=t.find(([i,n])=>i===n||!(i in e)||!(n in e));if(s)throw new Error(`edge ${s.join(" -> ")}: expected two different nodes of 0 to ${e.length-1}`)}function ga({nodes:e,edges:t}){let s=e.map((r,a)=>a),i=r=>{for(;s[r]!==r;)r=s[r]=s[s[r]];return r};for(let[r,a]of t){let[l,c]=[i(r),i(a)];s[Math.max(l,c)]=Math.min(l,c)}let n=new Map;e.forEach((r,a)=>{let l=n.get(i(a));l?l.push(a):n.set(i(a),[a])});let o=[...n.values()];return[...o.filter(r=>r.length>1),...o.filter(r=>r.length===1)]}function ba(e,t){let s=new Map(t.map((r,a)=>[r,a])),i=[];e.edges.forEach(([r],a)=>s.has(r)&&i.push(a));let n=i.map(r=>e.edges[r].map(a=>s.get(a))),o=bi(t.map(r=>e.nodes[r]),n);return $i(o),Ai(o),{members:t,numbers:i,...Ti(o,n)}}function va(e,t,s){let i={width:0,height:0,boxes:e.nodes.map(a=>({x:0,y:0,...a})),routes:e.edges.map(()=>[])},n=0,o=0,r=0;for(let a of t)n&&n+a.width>s&&([n,o,r]=[0,o+r+Ei,0]),a.members.forEach((l,c)=>Object.assign(i.boxes[l],{x:n+a.boxes[c].x,y:o+a.boxes[c].y})),a.numbers.forEach((l,c)=>{i.routes[l]=a.routes[c].map(([h,d])=>[n+h,o+d])}),r=Math.max(r,a.height),i.width=Math.max(i.width,n+a.width),i.height=Math.max(i.height,o+r),n+=a.width+Ei;return i}var Li="600 11px system-ui, sans-serif",Re="10px ui-monospace, monospace",pe=13,Ne=8,ya=230,ka=60,zi=18,_i=7,$a=2,de=class extends yt{constructor(t,s){let{nodes:i,edges:n,copies:o}=t.data.header.flow;super(t,n),this.all=t.first.axes;let r=document.createElement("canvas").getContext("2d");this.nodes=i.map((u,w)=>this.read(u,w,i)),this.sizes=this.nodes.map(u=>Ma(u,r));let a=he({nodes:this.sizes,edges:this.edges},{width:900});this.width=a.width,this.arrows=this.edges.map(([u],w)=>{let[[m,x]]=a.routes[w];return this.arrow([[m,x-this.sizes[u].beside],...a.routes[w]])}),this.groups=this.nodes.map((u,w)=>this.group(w,a.boxes[w]));let l="The program: arguments, kernels, collectives, results. Arrows walk along the flow";this.svg=this.assemble("svg.dag.flow",l,a,[12,8,20]),this.scroller=p("div.flowbody",s?null:this.svg);let c=i.filter(u=>u.kind==="kernel").length,h=i.filter(u=>u.kind==="collective").length,d=[j(c,this.data.header.work),j(h,"collective")],f=o?`; ${o} layout cop${o===1?"y":"ies"} not drawn`:", all drawn";this.element=p("div.flowpane",s?this.besideScroller():this.scroller,p("p.dim.flowfoot",`${d.join(", ")}${f}. Shapes and bytes on arrows are those of one device.`)),this.element.hidden=!0}besideScroller(){let{scroller:t,svg:s}=this,i=p("div"),n=p("div.flowclip",s);t.append(i);let o=()=>{n.style.width=`${t.clientWidth}px`,n.style.height=`${t.clientHeight}px`;let a=s.getBoundingClientRect();i.style.width=`${a.width}px`,i.style.height=`${a.height}px`,s.style.transform=`translate(${-t.scrollLeft}px, ${-t.scrollTop}px)`};t.addEventListener("scroll",o,{passive:!0});let r=new ResizeObserver(o);return r.observe(t),r.observe(s),ja(n,t),p("div.flowview",t,n)}get need(){return Number(this.svg.getAttribute("height"))+this.element.offsetHeight-this.scroller.offsetHeight}fits(t){return this.width<=$a*t}read(t,s,i){if(t.kind==="argument"||t.kind==="result")return this.end(t);let{data:n,store:o}=this,r=N=>n.column(`graph.${N}`),a=t.kernel,l=[...r("collective.kernel")].indexOf(a),c=l<0?void 0:n.header.collectives[r("collective.row")[l]],h=c&&n.header.axis_sets[c.axes],d=r("kernel.spot")[a],f=d<0?"":o.spotName(d),u=r("kernel.runs")[a],w=u===1?"":u<0?"\xD7 unknown":`\xD7 ${b(u)}`,m=!c&&r("kernel.matmuls")[a]>0,x=n.strings("graph.labels").at(r("kernel.label")[a]),g=r("kernel.bytes")[a],v=this.edges.some(([N,G])=>N===s&&i[G].kind!=="result"),S=t.value.array?`${t.value.array} `:"",$=g<0?"":y(g),M=c?[{words:`${c.kind} `},{words:h.words,axes:h.axes??[]}]:[{words:`${m?"\xD7 ":""}${x}`}],_=[c&&t.sent?`sends ${t.sent}`:"",f.split("/").pop()??"",w].filter(Boolean);return{kind:t.kind,lines:[M,[{words:_.join(" \xB7 ")||n.strings("graph.kernel.names").at(a)}]],beside:v?[[{words:`${S}${$}`}],...t.value.spec?[Ie(t.value.spec)]:[]]:[],story:[c?`${c.kind} over ${h.words}`:x,`${n.strings("graph.kernel.names").at(a)}${f?`, ${f}`:""}`,t.sent?`${t.sent} sent by each device, each time (modelled, ring)`:"",`result ${S}${$} on one device${w?`, run ${w.slice(2)} times per call`:""}`,t.value.spec?`the value it computes: ${Bi(t.value.spec)}`:""].filter(Boolean),color:h?A(h.axes,this.all):"ax-none",isMatmul:m,of:t,one:{kernel:a,collective:l,entity:r("kernel.entity")[a],spot:d}}}end(t){let{spec:s}=t.value;return{kind:t.kind,lines:[[{words:t.name},...t.array?[{words:` ${t.array}`,isMinor:!0}]:[]],...s?[Ie(s)]:[],...t.bytes?[[{words:`each ${t.local} ${t.bytes}`}]]:[]],beside:[],story:[`${t.kind} ${t.name}`,[t.array,s?Bi(s):""].filter(Boolean).join(" "),t.bytes?`each device: ${t.local}, ${t.bytes}`:""].filter(Boolean),color:"ax-none",isMatmul:!1,of:t,one:null}}group(t,s){let i=this.nodes[t],n=this.sizes[t],o=n.height-n.beside,r=i.kind==="collective",a=i.of.tiles?Wt({...i.of,spec:i.of.value.spec},this.all):null,l=Ne+(a?Zt.width+8:0)+(r?4:0);return this.node(t,`${i.kind} ${r?"move":i.isMatmul?"matmul":"plain"} ${i.color}`,i.story,s,k("rect",{x:0,width:n.box,height:o,rx:r?o/2:3}),i.isMatmul?k("rect.side",{x:0,width:3,height:o}):null,a&&k("g",{transform:`translate(${Ne} 7)`},a),i.lines.map((c,h)=>this.text(c,h?"name":"title",l,4+pe*(h+.78))),i.beside.map((c,h)=>this.text(c,"beside",(n.port??0)+_i,o+pe*(h+.95))))}text(t,s,i,n){return k("text",{class:s,x:i,y:n},t.map(o=>o.axes||o.isMinor?k("tspan",{class:o.axes?`axisname ${A(o.axes,this.all)}`:"minor"},o.words):o.words))}choose(t){let{one:s}=this.nodes[t];this.goTo(t);let i=s?-1:this.store.rows("arrays").findIndex(n=>this.isEnd(t,n));s?ft(this.store,s):i>=0&&this.store.select({type:"array",row:i}),this.mark()}isEnd(t,s){let{of:i}=this.nodes[t];return s.role===(i.kind==="argument"?"input":"output")&&(s.name===i.name||s.name===i.pattern)}isOn(t){let{one:s}=this.nodes[t];if(s)return vt(this.store,s);let{listed:i}=this.store;return i?.type==="array"&&this.isEnd(t,this.store.rows("arrays")[i.row])}update(){super.update();let t=this.groups[this.current];t&&this.scroller.clientHeight&&bt(this.scroller,t,ka)}};function ja(e,t){let s=null,i=!1;e.addEventListener("pointerdown",n=>{i=!1,s={x:n.clientX,y:n.clientY,left:t.scrollLeft,top:t.scrollTop}}),e.addEventListener("pointermove",n=>{if(!s)return;let[o,r]=[n.clientX-s.x,n.clientY-s.y];!i&&Math.hypot(o,r)<4||(i||e.setPointerCapture(n.pointerId),i=!0,t.scrollLeft=s.left-o,t.scrollTop=s.top-r)});for(let n of["pointerup","pointercancel","pointerleave"])e.addEventListener(n,()=>s=null);e.addEventListener("click",n=>i&&n.stopPropagation(),!0)}function Ie(e){return[{words:"P("},...e.flatMap((t,s)=>[...s?[{words:", "}]:[],t.length?{words:t.join("+"),axes:t}:{words:"\u2013"}]),{words:")"}]}function Bi(e){return Ie(e).map(t=>t.words).join("")}function Ma(e,t){let s=(l,c)=>{let h=l.map(d=>d.words).join("");return t?(t.font=c,t.measureText(h).width):h.length*6.4};for(let l of e.lines)Sa(l,c=>s(c,l===e.lines[0]?Li:Re));let i=e.of.tiles?Zt.width+8:e.kind==="collective"?8:0,n=e.lines.map((l,c)=>s(l,c?Re:Li)),o=Math.ceil(Math.max(56,...n))+2*Ne+i,r=Math.max(0,...e.beside.map(l=>s(l,Re))),a=e.beside.length?e.beside.length*pe+4:0;return{box:o,beside:a,width:Math.max(o,zi+Math.ceil(r)+_i),port:e.beside.length?zi:void 0,height:e.lines.length*pe+8+a}}function Sa(e,t){let s=e.reduce((n,o)=>o.words.length>n.words.length?o:n,e[0]),i=[...s.words];for(;i.length>8&&t(e)>ya;)i=[...i.slice(0,Math.ceil(i.length*.45)),"\u2026",...i.slice(-Math.floor(i.length*.55)+2)],s.words=i.join("")}var Wi=6,Aa={own:"",combined:"most of its names are of this scope",body:"most of what it fuses is of this scope",producer:"by what it sums",user:"by what takes its result",operand:"by what it takes",caller:"by the loop or call it stands in",argument:"by the argument it reads",array:"by the array it updates",loop:"moved out of a loop",none:"nothing tells its scope"};function Ni(e,t){let s=e.column("graph.kernel.box"),i=[];s.forEach((r,a)=>r===t&&i.push(a));let n=new Map(i.map((r,a)=>[r,a])),o=Ea(e,t,n);return{title:Di(e,t),facts:Oa(e,t),kernels:Ta(e,i,o.args),edges:o.edges,stubs:[...Ri(e,o.into,!0),...Ri(e,o.outof,!1)],isList:!!e.column("graph.box.is_list")[t]}}function Ii(e,t){let s=e.column("graph.row.parent"),i=e.strings("graph.row.labels"),n=[];for(let o=t;o>0;o=s[o])n.unshift(i.at(o));return n.join("/")||(t>=0?i.at(t):"unknown")}function Di(e,t){let{graph:s}=e.header,i=Ii(e,e.column("graph.box.row")[t]);return s.is_differentiated?`${i}, ${s.phases[e.column("graph.box.phase")[t]]}`:i}function Oa(e,t){let s=a=>e.column(`graph.box.${a}`)[t],[i,n,o,r]=["kernels","matmuls","inferred","iterations"].map(s);return[j(i,"kernel"),n?j(n,"matmul"):"",o?`${b(o)} placed by inference`:"",r>1?`per iteration, ${b(r)} per call`:""].filter(Boolean)}function Ta(e,t,s){let i=$=>e.column(`graph.kernel.${$}`),[n,o,r,a,l,c,h,d,f]=["opcode","label","how","runs","bytes","matmuls","flops","spot","entity"].map(i),u=e.header.graph.measured?i("time"):[],w=e.strings("graph.kernel.names"),m=e.strings("graph.labels"),x=e.strings("graph.opcodes"),g=e.strings("graph.arguments"),v=new Map([...e.column("graph.collective.kernel")].map(($,M)=>[$,M]).reverse()),S=Ca(e,t);return t.map($=>({kernel:$,name:w.at($),label:m.at(o[$]),opcode:x.at(n[$]),bytes:l[$],runs:a[$],time:u[$]??-1,matmuls:c[$],flops:h[$],collective:v.get($)??-1,entity:f[$],spot:d[$],how:Aa[e.header.graph.hows[r[$]]]??"",mixes:S.get($)??[],args:[...s.get($)??[]].map(M=>g.at(M)||`argument ${M}`)}))}function Ca(e,t){let s=c=>e.column(`graph.mix.${c}`),[i,n,o,r]=["kernel","row","phase","instructions"].map(s),a=new Set(t),l=new Map;return i.forEach((c,h)=>{if(!a.has(c))return;let d=e.header.graph.is_differentiated?`, ${e.header.graph.phases[o[h]]}`:"";l.set(c,[...l.get(c)??[],`${Ii(e,n[h])}${d} (${j(r[h],"instruction")})`])}),l}function Ea(e,t,s){let[i,n,o,r,a]=["ends","source","element","carried","bytes"].map(m=>e.column(`graph.read.${m}`)),l=e.column("graph.sizes"),c=e.column("graph.kernel.box"),h=new Map,d=new Map,f=new Map,u=new Map;for(let m=0,x=0;m<c.length;m++)for(let[,g]=E(i,m);x<g;x++){let v=n[x],S=c[m]===t;if(v<-1&&S&&Pi(h,m).add(-2-v),v<0||!S&&c[v]!==t)continue;let $=!!r[x],M={name:`${v}.${o[x]}`,bytes:l[a[x]]??0,isLater:$};S?c[v]!==t?De(f,c[v],s.get(m),M):$?De(f,-1,s.get(m),M):v<m&&Pi(d,s.get(v)).add(s.get(m)):De(u,c[m],s.get(v),M)}return{edges:[...d].sort((m,x)=>m[0]-x[0]).flatMap(([m,x])=>[...x].map(g=>[m,g])),args:h,into:f,outof:u}}function Pi(e,t){let s=e.get(t)??new Set;return e.set(t,s),s}function De(e,t,s,i){let n=e.get(t)??{kernels:new Set,values:new Map,isLater:!0};e.set(t,n),n.kernels.add(s),n.values.set(i.name,i.bytes),n.isLater&&=i.isLater}function La(e,t,s,i){return t<0?"the iteration before":`${Di(e,t)}${s?i?", the iteration before":", the next iteration":""}`}function Ri(e,t,s){let i=[...t].map(([l,c])=>({isIn:s,box:l,words:La(e,l,c.isLater,s),more:[],bytes:[...c.values.values()].reduce((h,d)=>h+d,0),kernels:[...c.kernels].sort((h,d)=>h-d)})).sort((l,c)=>c.bytes-l.bytes||l.box-c.box),n=i.length>Wi?i.slice(0,Wi-1):i,o=i.slice(n.length);if(!o.length)return n;let r=o.map(l=>`${l.words}: ${y(l.bytes)}`),a=[...new Set(o.flatMap(l=>l.kernels))].sort((l,c)=>l-c);return[...n,{isIn:s,box:-1,words:`${j(o.length,"box").replace(/boxs$/,"boxes")} more`,more:r,bytes:o.reduce((l,c)=>l+c.bytes,0),kernels:a}]}function fe(e,t){let s=e.runs===1?"":e.runs<0?", run unknown times":`, run ${b(e.runs)} times per call`,i=e.args.slice(0,8).join(", ")+(e.args.length>8?` and ${e.args.length-8} more`:""),n=e.mixes.slice(0,4);return e.mixes.length>4&&n.push(`${e.mixes.length-4} more`),[kt(e,t),`${e.name} (${e.opcode})`,`result ${e.bytes<0?"of unknown size":y(e.bytes)}${s}`,e.matmuls?`${j(e.matmuls,"matmul")}${e.flops<0?"":`, ${wt(e.flops)}`}`:"",e.time<0?"":`${D(e.time)} per call (measured, slowest device)`,i&&`takes ${i}`,e.how&&`stands here by inference: ${e.how}`,n.length?`of several scopes, also ${n.join("; ")}`:""].filter(Boolean)}function kt(e,t){let s=Rt(e,t);return s?`${t.header.collectives[t.column("graph.collective.row")[e.collective]]?.kind??e.opcode} over ${s.words}`:e.label}function Rt(e,t){let s=e.collective<0?void 0:t.header.collectives[t.column("graph.collective.row")[e.collective]];return s?t.header.axis_sets[s.axes]:null}var za={title:"600 11px system-ui, sans-serif",name:"10px ui-monospace, monospace",arg:"italic 10px system-ui, sans-serif"},Hi=13,Fe=7,Ba=210;function Ui(e,t){let s=document.createElement("canvas").getContext("2d"),i=e.kernels.map((c,h)=>({lines:_a(c,t),kernel:h,stub:-1})),n=e.stubs.map((c,h)=>({lines:Wa(c),kernel:-1,stub:h})),o=[...i,...n].map(c=>({...c,lines:c.lines.map(h=>({kind:h.kind,words:xi(h.words,d=>Fi(s,{...h,words:d})<=Ba-2*Fe)}))})),r=o.map(c=>({width:Math.ceil(Math.max(44,...c.lines.map(h=>Fi(s,h))))+2*Fe,height:c.lines.length*Hi+8})),a=e.stubs.flatMap((c,h)=>c.kernels.map(d=>c.isIn?[i.length+h,d]:[d,i.length+h])),l=[...e.edges,...a];return{nodes:o,edges:l,picture:he({nodes:r,edges:l},{width:900})}}function _a(e,t){let s=e.args.length>1?`\u2190 ${e.args[0]} +${e.args.length-1}`:`\u2190 ${e.args[0]}`;return[{kind:"title",words:e.matmuls&&e.collective<0?`\xD7 ${kt(e,t)}`:kt(e,t)},{kind:"name",words:e.bytes<0?e.name:`${e.name} ${y(e.bytes)}`},...e.args.length?[{kind:"arg",words:s}]:[]]}function Wa(e){return[{kind:"arg",words:`${e.isIn?"from":"to"} ${e.words}`},{kind:"name",words:y(e.bytes)}]}function Fi(e,t){return e?(e.font=za[t.kind],e.measureText(t.words).width):t.words.length*6.2}function Ki(e,t,s,i){let n=new He(e,t,s,i);return{element:n.svg,update:()=>n.update(),focus:()=>n.groups[Math.max(0,n.current)]?.focus({preventScroll:!0}),reveal:()=>n.current>=0&&Pt(n.groups[n.current])}}var He=class extends yt{constructor(t,s,i,n){super(t,i.edges),this.content=s,this.dag=i,this.moves=n;let o=Math.max(1,...s.kernels.map(a=>a.bytes));this.arrows=i.edges.map(([a],l)=>this.arrow(i.picture.routes[l],this.weight(a,o).toFixed(2))),this.groups=i.nodes.map((a,l)=>this.draw(a,i.picture.boxes[l],l));let r=`Kernels of ${s.title}: arrows walk along the graph`;this.svg=this.assemble("svg.dag",r,i.picture,[12,12,24])}weight(t,s){let i=this.content.kernels[t]?.bytes??this.content.stubs[t-this.content.kernels.length].bytes;return 1+1.5*Math.max(0,Math.min(1,1+Math.log2(Math.max(1,i)/s)/12))}draw(t,s,i){let n=this.content.kernels[t.kernel],o=n?Rt(n,this.data):null,r=n?fe(n,this.data):this.stubLines(t.stub),a=o&&`move ${A(o.axes,this.store.first.axes)}`,l=n?a||(n.matmuls?"matmul":"plain"):"stub";return this.node(i,`${l}${n?.mixes.length?" mixed":""}`,r,s,k("rect",{width:s.width,height:s.height,rx:o?9:3}),l==="matmul"?k("rect.side",{width:3,height:s.height}):null,t.lines.map((c,h)=>k("text",{class:c.kind,x:Fe,y:4+Hi*(h+.78)},c.words)))}stubLines(t){let s=this.content.stubs[t];return[`${s.isIn?"from":"to"} ${s.words}`,`${y(s.bytes)} of distinct values (counted)`,...s.more.slice(0,12),s.box>=0?"Enter or click opens it":""].filter(Boolean)}choose(t,s){let i=this.dag.nodes[t],n=this.content.stubs[i.stub];if(n&&s&&n.box>=0)return this.moves.show(n.box);this.goTo(t),Pt(this.groups[t]),n||ft(this.store,this.content.kernels[i.kernel]),this.mark()}isOn(t){let s=this.content.kernels[this.dag.nodes[t]?.kernel];return!!s&&vt(this.store,s)}};var qi=300;function Gi(e,t,s){let i=e.data,n=qi,o=[],r=p("div",{class:`boxrows${t.kernels.some(f=>f.args.length)?"":" noargs"}`,role:"listbox","aria-label":`Kernels of ${t.title}`,onkeydown:f=>gt(o,f,u=>ft(e,t.kernels[o.indexOf(u)]))}),a=()=>o.forEach((f,u)=>f.setAttribute("aria-selected",String(vt(e,t.kernels[u])))),l=()=>{o=t.kernels.slice(0,n).map((f,u)=>Pa(e,i,f,u)),r.replaceChildren(...o),a(),c.hidden=t.kernels.length<=n,c.textContent=`${b(t.kernels.length-n)} more`},c=p("button.more",{onclick:()=>{n+=qi*4,l()}});l();let h=p("div.boxlist",Xi(t,s,!0),r,c,Xi(t,s,!1)),d=()=>o.find(f=>f.getAttribute("aria-selected")==="true");return{element:h,update:a,focus:()=>(d()??o[0])?.focus({preventScroll:!0}),reveal:()=>{let f=d();f&&Pt(f)}}}function Pa(e,t,s,i){let n=Rt(s,t),o=n?t.header.collectives[t.column("graph.collective.row")[s.collective]].kind:"kernel",r=s.args.length?`\u2190 ${s.args.slice(0,3).join(", ")}${s.args.length>3?` +${s.args.length-3}`:""}`:"";return p("div",{class:`boxrow ${n?A(n.axes,e.first.axes):"ax-none"}${s.mixes.length?" mixed":""}`,role:"option",tabindex:i?-1:0,title:fe(s,t).join(`
`),onclick:()=>ft(e,s)},K(o),p("span.name",p("bdi",`${s.matmuls&&!n?"\xD7 ":""}${kt(s,t)}`)),p("span.code.dim.name",p("bdi",s.name)),p("span.dim.name.args",r?p("bdi",r):null),p("span.size",s.bytes<0?"":y(s.bytes)))}function Xi(e,t,s){let i=e.stubs.filter(n=>n.isIn===s);return i.length?p("p.boxstubs.dim",s?"from ":"to ",i.flatMap((n,o)=>{let r=`${n.words} ${y(n.bytes)}`,a=n.box<0?p("span",{title:n.more.join(`
`)},r):p("button.link",{onclick:()=>t.show(n.box)},r);return[o?" \xB7 ":"",a]})):null}var Ra=1600,Na=160,Ia=1.8,Vi=new WeakMap;function Ue(e,t,s,i=()=>{},n=!1){let{data:o}=e;if(!o||o.header.graph?.missing)return()=>{};Vi.get(s)?.();let r=s.getRootNode().activeElement,a=p("section",{class:n?"boxpane quiet":"boxpane",role:"region"});for(let f of["pointerdown","focusin"])a.addEventListener(f,()=>a.classList.remove("quiet"));let l=()=>{c(),a.isConnected&&(a.remove(),i(-1),r?.isConnected&&r.focus({preventScroll:!0}))},c=()=>{},h=n,d=f=>{c(),c=Da(e,a,f,{close:l,show:d},h),h=!1,i(f)};return a.addEventListener("keydown",f=>{f.key==="Escape"&&(f.stopPropagation(),f.preventDefault(),l())}),s.append(a),Vi.set(s,l),d(t),l}function Da(e,t,s,i,n){let o=e.data,r=Ni(o,s),a=r.kernels.length>Na||r.isList?null:Ui(r,o),l=a!==null&&a.picture.width<=Ra,c=!l||a.picture.width>Ia*t.clientWidth,h=()=>{},d=p("div.boxbody"),f=l?p("button.button",{onclick:()=>{c=!c,w(!0)}},"As list"):null,u=a&&!l?"Too wide to draw: a list.":r.isList?"Most kernels here are not connected: a list.":l?"":"Too many kernels to draw: a list.",w=m=>{h(),f&&(f.textContent=c?"As graph":"As list");let x=c||!a?Gi(e,r,i):Ki(e,r,a,i);d.replaceChildren(x.element),x.update(),h=Fa(e,x.update),m||x.focus(),d.scrollLeft=(d.scrollWidth-d.clientWidth)/2,x.reveal()};return t.setAttribute("aria-label",`Inside ${r.title}`),t.replaceChildren(p("header.boxhead",p("h3.boxtitle",p("bdi",r.title)),p("div.boxbuttons",f,p("button.button",{"aria-label":"Close (Escape)",title:"Close (Escape)",onclick:i.close},"\xD7 Close")),p("p.dim.boxfacts",`${r.facts.join(" \xB7 ")}. Attribution of kernels to boxes is modelled. ${u}`)),d),w(n),()=>h()}var Yi=new WeakMap;function Fa(e,t){let s=Yi.get(e);if(!s){let n=s={update:t};Yi.set(e,n),e.listen(o=>o.has("selection")&&n.update())}let i=s;return i.update=t,()=>{i.update===t&&(i.update=()=>{})}}var Ha="text dim line rule bg panel picked strong select band flow in out heat ax-0 ax-1 ax-2 ax-3 ax-many ax-none";function Ji(e){let t=getComputedStyle(e),s=i=>t.getPropertyValue(`--${i}`).trim()||t.color;return Object.fromEntries(Ha.split(" ").map(i=>[i,s(i)]))}var Zi=e=>Math.max(0,...e.boxes.map(t=>t.cell.time));function Qi(e,t,s){let i=Math.max(1,Zi(t)),n=o=>e&&o.cell.time>0?o.cell.time/i:0;return o=>[n(o)?Ua(s,s.heat,.06+.5*Math.sqrt(n(o))):s.bg,s.line]}function Ua(e,t,s){let[i,n]=[e.bg,t].map(Ka);return!i||!n?t:`rgb(${i.map((o,r)=>Math.round(o+(n[r]-o)*s)).join(" ")})`}function Ka(e){let t=e.match(/^#([0-9a-f]{3}|[0-9a-f]{6})$/i)?.[1],s=t?.length===3?[...t].map(n=>n+n):t?.match(/../g);if(s)return s.map(n=>parseInt(n,16));let i=e.match(/^rgba?\(([^)]*)\)/)?.[1];return i?i.split(/[\s,/]+/,3).map(Number):null}function tn(e,t){let s=t.boxes.some(o=>o.cell.slowest>=0),i=`most: ${D(Zi(t))} per call (measured, slowest device${s?", slowest of equal layers":""})`,n=`${e}. The profiler slows the program; a collective's time includes waiting.`;return p("span.key",{title:n},p("i.swatch",{style:{"--c":"var(--heat)"}}),i)}var en=0;var Nt=2,ut=3,Ke=class{constructor(t){let s=n=>t.column(`graph.${n}`),i=(n,o)=>Object.fromEntries(o.map(r=>[r,s(`${n}.${r}`)]));this.header=t.header.graph,this.work=t.header.work,this.phases=this.header.phases,this.columns=this.header.columns,this.row=i("row",["parent","kind","trips","fold","shown_as"]),this.box=i("box",["row","phase","kernels","inferred","matmuls","flops","flops_per_call","iterations","bytes","is_list"]),this.boxTime=this.header.measured?s("box.time"):new Float64Array(0),this.move=i("move",["kind","axes","runs","bytes","ends"]),this.mention=i("mention",["collective","operands","bytes","ends"]),this.collective=i("collective",["row","box","kernel","bytes"]),this.kernel=i("kernel",["opcode","label","box","how","loop","runs","bytes","matmuls","flops","spot","entity","line"]),this.mix=i("mix",["kernel","row","phase","instructions"]),this.read=i("read",["ends","source","operand","element","carried","bytes"]),this.arrow=i("arrow",["source","target","values","bytes","carried"]),this.fold=i("fold",["shown","likeness","essential"]),this.sizes=s("sizes"),this._lists={children:["row.children","row.children.ends"],members:["fold.members","fold.members.ends"],numbers:["move.collectives","move.collectives.ends"]},this._columns=Object.fromEntries(Object.entries(this._lists).map(([n,o])=>[n,o.map(s)])),this.words=Object.fromEntries(["row.labels","row.holds","fold.labels","kernel.names","opcodes","labels","arguments"].map(n=>[n,qa(t.strings(`graph.${n}`))])),this.rows=this.row.parent.length,this.boxes=this.box.row.length,this.kernels=this.kernel.box.length,this.folds=this.fold.shown.length,this.children=this._all("children",this.rows),this.members=this._all("members",this.folds),this._place=new Map(this.members.flatMap(n=>n.map((o,r)=>[o,r]))),this._kernels=null}_all(t,s){let[i,n]=this._columns[t];return Array.from({length:s},(o,r)=>[...i.subarray(...E(n,r))])}label(t){return this.words["row.labels"](t)}path(t){let s=[];for(let i=t;i>0;i=this.row.parent[i])s.unshift(this.label(i));return s.join(" / ")||this.label(t)}kind(t){return this.header.row_kinds[this.row.kind[t]]}place(t){return this._place.get(t)??-1}collectives(t){let[s,i]=this._columns.numbers;return s.subarray(...E(i,t))}kernelsOf(t){if(!this._kernels){this._kernels=Array.from({length:this.boxes},()=>[]);for(let s=0;s<this.kernels;s++)this._kernels[this.kernel.box[s]]?.push(s)}return this._kernels[t]}};function qa(e){let t=[];return s=>t[s]??=e.at(s)}function sn(e){return!e?.header.graph||e.header.graph.missing?null:new Ke(e)}var Xa=6;function nn(e,t,{flows:s=!0}={}){let{stand:i,vis:n,isClosed:o}=Ga(e,t),r=Ja(e,i,n,o);il(e,r,i,n,o),rl(e,r,i,n);let l={items:Ya(e,t,o),cells:r,flows:[],stand:i,vis:n,isClosed:o};return s&&(l.flows=al(e,l)),l}var z=(e,t)=>e*4+t;function Ga(e,t){let{parent:s,fold:i,shown_as:n}=e.row,o=new Int32Array(e.rows),r=new Int32Array(e.rows),a=new Uint8Array(e.folds),l=new Map,c=d=>i[d]>=0&&a[i[d]]?e.fold.shown[i[d]]:d,h=(d,f)=>{l.has(f)||l.set(f,new Map([...e.children[f]].reverse().map(w=>[n[w],w])));let u=l.get(f)?.get(n[d]);return u===void 0?Va(e,f,c):c(u)};for(let d=1;d<e.rows;d++){let f=s[d],u=r[f]===f&&t.open.has(f);o[f]!==f?o[d]=u||t.open.has(o[f])?h(d,o[f]):o[f]:(i[d]>=0&&u&&!t.unfolded.has(i[d])&&(a[i[d]]=1),o[d]=c(d)),r[d]=u?d:r[f]}return{stand:o,vis:r,isClosed:a}}function Va(e,t,s){let i=t;for(;e.children[i].length;)i=s(e.children[i][0]);return i}function Ya(e,t,s){let i=[],n=(r,a)=>{let l=t.open.has(r)&&e.children[r].length>0,c={row:r,fold:e.row.fold[r],depth:a,isOpen:l,isUnfolded:!1,count:0},h=i.push(c);l&&o(r,a+1),c.count=i.length-h},o=(r,a)=>{let l=new Set;for(let c of e.children[r]){let h=e.row.fold[c];if(h<0)n(c,a);else if(!l.has(h)){if(l.add(h),s[h]){n(e.fold.shown[h],a);continue}let d={row:-1,fold:h,depth:a,isOpen:!0,isUnfolded:!0,count:0},f=i.push(d);e.members[h].forEach(u=>n(u,a+1)),d.count=i.length-f}}};return o(0,0),i.length||i.push({row:0,fold:-1,depth:0,isOpen:!1,isUnfolded:!1,count:0}),i}function Ja(e,t,s,i){let{box:n}=e,o=new Map,r=Qa(e,i);for(let a=0;a<e.boxes;a++){let l=n.row[a],c=n.phase[a];if(t[l]!==l)continue;let h=z(s[l],c),d=o.get(h),f=d??{row:s[l],phase:c,boxes:[],times:r[l],kernels:0,inferred:0,matmuls:0,flops:0,iterations:n.iterations[a],bytes:0,time:-1,slowest:-1,moves:[],shares:[],differences:[],parts:[]};d||o.set(h,f),f.boxes.push(a),f.kernels+=n.kernels[a],f.inferred+=n.inferred[a],f.matmuls+=n.matmuls[a],f.flops=f.flops<0||n.flops[a]<0?-1:f.flops+n.flops[a],f.bytes+=n.bytes[a],f.iterations!==n.iterations[a]&&(f.iterations=n.iterations[a]===1||f.iterations===1?1:-1),tl(e,f,a),el(e,f,a)}for(let a of o.values())a.moves.sort((l,c)=>c.bytes-l.bytes),a.shares=a.shares.filter(l=>l.collectives.some(c=>!a.boxes.includes(e.collective.box[c]))),a.shares.sort((l,c)=>c.bytes-l.bytes);return e.boxTime.length&&Za(e,t,s,i,o),o}function Za(e,t,s,i,n){let o=new Int32Array(e.rows).fill(-1);for(let a=1;a<e.rows;a++){let l=e.row.fold[a];o[a]=l>=0&&i[l]?a:o[e.row.parent[a]]}let r=new Map;for(let a=0;a<e.boxes;a++){let l=e.box.row[a],c=n.get(z(s[t[l]],e.box.phase[a]));if(!c||e.boxTime[a]<0)continue;let h=`${c.row} ${c.phase} ${o[l]}`,d=(r.get(h)??0)+e.boxTime[a];r.set(h,d),(d>c.time||c.slowest===o[l])&&([c.time,c.slowest]=[d,o[l]])}}function Qa(e,t){let s=new Int32Array(e.rows).fill(1);for(let i=1;i<e.rows;i++){let n=e.row.fold[i];s[i]=s[e.row.parent[i]]*(n>=0&&t[n]?e.members[n].length:1)}return s}function on(e,t,s){let i=e.find(n=>n.kind===t&&n.axes===s);return i||e.push(i={kind:t,axes:s,count:0,bytes:0,runs:0,collectives:[]}),i}function tl(e,t,s){let[i,n]=E(e.move.ends,s);for(let o=i;o<n;o++){let r=on(t.moves,e.move.kind[o],e.move.axes[o]),a=e.collectives(o);r.count+=a.length,r.bytes+=e.move.bytes[o],r.runs=r.runs<0||e.move.runs[o]<0?-1:r.runs+e.move.runs[o],r.collectives.push(...a)}}function el(e,t,s){let[i,n]=E(e.mention.ends,s);for(let o=i;o<n;o++){let r=e.mention.collective[o],a=sl(e,r);if(a<0)continue;let l=on(t.shares,e.move.kind[a],e.move.axes[a]);l.collectives.includes(r)||l.collectives.push(r),l.count=l.collectives.length,l.bytes+=e.mention.bytes[o]}}function sl(e,t){let[s,i]=E(e.move.ends,e.collective.box[t]);for(let n=s;n<i;n++)if(e.collectives(n).includes(t))return n;return-1}function il(e,t,s,i,n){for(let[o,r]of ol(e,s,i,n)){let a=e.fold.shown[o],l=r.get(a)??new Map;for(let c of e.members[o]){if(c===a)continue;let h=r.get(c)??new Map;for(let d of new Set([...l.keys(),...h.keys()])){let[f,u]=h.get(d)??[0,0],[w,m]=l.get(d)??[0,0];if(f===w&&u===m)continue;let[x,g,v]=d.split(",").map(Number);nl(t.get(x),c,g,v,f-w,u-m)}}}}function nl(e,t,s,i,n,o){if(!e)return;let r=e.differences.find(a=>a.kind===s&&a.axes===i&&a.count===n&&a.bytes===o);r?r.members.push(t):e.differences.push({members:[t],kind:s,axes:i,count:n,bytes:o})}function ol(e,t,s,i){let n=new Map;for(let o=0;o<e.folds;o++)i[o]&&n.set(o,new Map);for(let o=0;o<e.boxes;o++){let[r,a]=E(e.move.ends,o);for(let l=r<a?e.box.row[o]:-1;l>0;l=e.row.parent[l]){let c=n.get(e.row.fold[l]);if(!c)continue;c.has(l)||c.set(l,new Map);let h=c.get(l),d=z(s[t[e.box.row[o]]],e.box.phase[o]);for(let f=r;f<a;f++){let u=`${d},${e.move.kind[f]},${e.move.axes[f]}`,w=h.get(u)??[0,0];h.set(u,[w[0]+e.collectives(f).length,w[1]+e.move.bytes[f]])}}}return n}function rl(e,t,s,i){let{kernel:n,row:o,phase:r,instructions:a}=e.mix;for(let l=0;l<n.length;l++){let c=e.kernel.box[n[l]],h=e.box.row[c];if(s[h]!==h)continue;let d=z(i[h],e.box.phase[c]),f=z(i[s[o[l]]],r[l]);if(d===f)continue;let u=[n[l],o[l],r[l],a[l]];t.get(d)?.parts.push(u),t.get(f)?.parts.push(u)}}function al(e,{cells:t,items:s,stand:i,vis:n,isClosed:o}){let{source:r,target:a,bytes:l}=e.arrow,c=cl(e,o),h=pl(e,c),d=Int32Array.from(e.box.row,(g,v)=>z(n[i[g]],e.box.phase[v])),f=e.rows*4+4,u=e.folds+2,w=new Map;for(let g=0;g<r.length;g++){let v=d[r[g]],S=d[a[g]],$=e.box.row[r[g]],M=e.box.row[a[g]],{step:_,crossed:N}=h($,M,e.box.phase[r[g]],e.box.phase[a[g]]);if(v===S&&_===Xe)continue;let G=((v*f+S)*3+_)*u+N+1,Tt=w.get(G);if(!Tt){let[Xt,Ct]=[t.get(v),t.get(S)];if(!Xt||!Ct)continue;w.set(G,Tt={flow:{source:Xt,target:Ct,relation:"",bytes:0,total:0,members:0,member:-1,times:1,crossed:N,outside:!1},own:0,leaving:0,entering:0,step:_,seen:new Set})}ll(Tt,l[g],i[$]===$,i[M]===M,c,$,M)}let m=dl(s,t),x=[...w.values()].map(g=>fl(e,g,m,o));return xl(x.sort((g,v)=>v.total-g.total))}function ll(e,t,s,i,n,o,r){let a=n.ids[o],l=n.ids[r];e.flow.total+=t,s&&i&&(e.own+=t),s&&(e.leaving+=t),i&&(e.entering+=t),e.seen.add(a*n.rows.length+l),e.flow.outside=n.rows[a].length!==n.rows[l].length;let c=n.rows[l].length?n.rows[l]:n.rows[a];c.length&&(e.flow.member=c[c.length-1])}function cl(e,t){let s=new Int32Array(e.rows),i=[[]];for(let n=1;n<e.rows;n++){let o=s[e.row.parent[n]];s[n]=e.row.fold[n]>=0&&hl(e,n,t)?i.push([...i[o],n])-1:o}return{ids:s,rows:i}}function hl(e,t,s){let i=e.row.fold[t],n=e.row.fold[e.row.shown_as[t]];return!!(s[i]||n>=0&&s[n])}var Xe=0,qe=1,rn=2;function pl(e,t){let s=new Map,i=(n,o)=>{let r=n.findIndex((a,l)=>a!==o[l]);return r<0||r>=o.length||e.row.fold[n[r]]!==e.row.fold[o[r]]?{fold:-1,onward:0}:{fold:e.row.fold[n[r]],onward:e.place(o[r])-e.place(n[r])}};return(n,o,r,a)=>{let l=t.ids[n],c=t.ids[o],h=l*t.rows.length+c,d=s.get(h);d||s.set(h,d=i(t.rows[l],t.rows[c]));let{fold:f,onward:u}=d;if(f<0)return{step:Xe,crossed:-1};let w=r===a&&r!==ut&&u>0==(r!==Nt);return{step:Math.abs(u)===1&&w?qe:rn,crossed:f}}}function dl(e,t){let s=new Map,i=[0,0,0,0];for(let n of e)for(let o=0;o<4;o++){let r=t.get(z(n.row,o));r&&n.row>=0&&s.set(r,i[o]++)}return s}function fl(e,t,s,i){let{flow:n,step:o}=t;return n.members=t.seen.size,n.bytes=o===Xe?t.own:t.leaving||t.entering,n.times=ul(e,n,i)-(o===qe?1:0),n.relation=o===qe?"next":o===rn?"across":ml(e,n,s),n}function ul(e,t,s){let i=new Set;for(let n of[t.source,t.target])for(let o=n.row;o>0;o=e.row.parent[o])e.row.fold[o]>=0&&s[e.row.fold[o]]&&i.add(e.row.fold[o]);return[...i].reduce((n,o)=>n*e.members[o].length,1)}function ml(e,t,s){let{source:i,target:n}=t;if(i.phase===n.phase){if(i.phase===ut)return"across";let r=s.get(i),l=(s.get(n)-r)*(i.phase===Nt?-1:1);return l<0?"against":l===1?"flow":"skip"}return(i.row===n.row||n.phase===ut&&wl(e,n.row,i.row))&&n.phase>i.phase?"saved":"across"}function wl(e,t,s){let i=s;for(;i>t;)i=e.row.parent[i];return i===t}function xl(e){return e.filter(t=>t.relation==="skip"&&t.source.phase===en).slice(0,Xa).forEach(t=>{t.relation="far skip"}),e}var me=24,F=17,Y=36,gl={gap:26,band:27,end:14,inset:10,least:me+3},bl={gap:9,band:26,end:8,inset:6,least:24},an=7,vl=5,yl=3,ln=82,dn=4,kl=22,cn=3,$l=60,jl=1100,tt=(e,t,s)=>Math.round(Math.max(e,Math.min(s,t)));function Ml(e,t,s=!1,i=!1){if(i)return{columns:e.map(m=>({phase:m,x:ln,w:t-ln-10})),labelWidth:t-20,gap:0,width:t,gutter:0,short:!1};if(s)return Sl(e,t);let n=t<(e.length>3?900:640),o=tt(n?96:104,.16*t,n?96:190),r=tt(n?46:54,.075*t,n?46:84),a=n?24:t<900?32:46,l=e.length>1&&e[e.length-1]===ut?tt(n?92:110,.14*t,n?92:164):0,c=e.length-(l?1:0),h=t-o-a-16-r*(e.length-1)-l,d=tt(n?138:150,h/c,c>1?270:420),f=fn(e,o+a,r,d,l),u=f[f.length-1];return{columns:f,labelWidth:o,gap:r,width:u.x+u.w+16,gutter:a,short:d<216}}function Sl(e,t){let s=tt(78,.17*t,190),i=tt(10,.018*t,24),n=14,o=e.length>1&&e[e.length-1]===ut?tt(42,.085*t,120):0,r=e.length-(o?1:0),a=tt(94,(t-s-n-10-i*(e.length-1)-o)/r,420),l=fn(e,s+n,i,a,o),c=l[l.length-1];return{columns:l,labelWidth:s,gap:i,width:c.x+c.w+10,gutter:n,short:a<190}}function fn(e,t,s,i,n){return e.map((o,r)=>({phase:o,x:t+r*(i+s),w:n&&r===e.length-1?n:i}))}function $t(e,t,{room:s,phases:i=e.columns,flows:n=!0,chipWidth:o,isStacked:r=!1}){let a=nn(e,t,{flows:n}),h={...Ml(i,s,!!o,r),measures:o?bl:gl,chipWidth:o,isStacked:r,boxes:[],bands:[],labels:[],arrows:[],pills:[],height:0,view:a,at:new Map};return Tl(h),r||El(h),o||Wl(e,h),h}function Al(e,t){let s=e.differences.slice(0,cn),i=[...un(e),...Ge(s)],n=Ge(e.differences.slice(cn));return n.length&&i.push({type:"more",of:n.length,rest:n}),i.map((o,r)=>({...o,x:0,y:me+2+F*r,w:t}))}var un=e=>[...e.moves.map(t=>({type:"move",of:t})),...e.shares.map(t=>({type:"share",of:t}))],Ge=e=>e.map(t=>({type:"difference",of:t}));function Ol(e,t,{chipWidth:s=()=>0}){let i=e.moves.map(r=>({type:"move",of:r})),n=[...un(e).slice(i.length),...Ge(e.differences)],o=t-(e.iterations===1?8:24);for(let r=i.length;;r--){let a=[...i.slice(r),...n],l=i.slice(0,r);a.length&&l.push({type:"more",of:a.length,rest:a});let[c,h]=[0,0],d=l.map(f=>{let u=Math.min(s(f),o);c&&c+u>o&&([c,h]=[0,h+1]);let w={...f,x:5+c,y:3+(F+1)*h,w:u};return c+=u+vl,w});if(h<yl||!r)return d}}function Ve({measures:e,chipWidth:t},{lines:s}){return s.length?s[s.length-1].y+F+(t?4:5):e.least}function Tl(e){let{items:t,cells:s}=e.view,{gap:i,band:n,end:o,inset:r,least:a}=e.measures,l=[],c=e.isStacked?8:Y+12,h=d=>{for(;l.length&&l[l.length-1].end<=d;){let{band:f,spans:u}=l.pop(),w=Math.max(c-i,...u.map(m=>m.y+Ve(e,m)));for(let m of u)m.h=w-m.y;f.h=w+r-f.y,c=w+r+i-(l.length?r:0)}};t.forEach((d,f)=>{h(f);let u=d.row<0?[]:Cl(e,d,s,c);if(d.isOpen){let w={item:d,x:6+d.depth*10,y:c,w:e.width-12-d.depth*20,h:0,depth:d.depth};e.bands.push(w),c+=n;for(let m of u)Object.assign(m,{y:c,isSpan:!e.isStacked,isStack:!1});e.isStacked&&(c=hn(e,u,c)),l.push({end:f+1+d.count,band:w,spans:e.isStacked?[]:u})}else if(e.isStacked)e.labels.push({item:d,x:14+d.depth*10,y:c,h:a,w:e.labelWidth-d.depth*20}),c=hn(e,u,c+kl)+i-dn;else{let w=Math.max(a,...u.map(m=>Ve(e,m)));for(let m of u)m.h=w;e.labels.push({item:d,x:14+d.depth*10,y:c,h:w,w:e.labelWidth-4-d.depth*10}),c+=w+i}}),h(t.length),e.height=c-i+o}function hn(e,t,s){for(let i of t)Object.assign(i,{y:s,h:Ve(e,i)}),s+=i.h+dn;return s}function Cl(e,t,s,i){let n=[];for(let o of e.columns){let r=s.get(z(t.row,o.phase));if(!r)continue;let a=t.fold>=0&&e.view.isClosed[t.fold]===1,{w:l}=o,c=e.chipWidth?Ol(r,l,e):Al(r,l),h={cell:r,x:o.x,y:i,w:l,h:0,lines:c,isSpan:!1,isStack:a};e.at.set(z(t.row,o.phase),h),n.push(h)}return e.boxes.push(...n),n}var pn=(e,t)=>e.at.get(z(t.row,t.phase));function El(e){let t={ends:[]};for(let s of e.view.flows){let i=pn(e,s.source),n=pn(e,s.target);if(!i||!n)continue;let o=s.relation==="flow"?Ll(e,i,n):s.relation==="saved"&&s.bytes>0?zl(e,i,n):s.relation==="far skip"?Bl(i,n,t,e.gutter):null;if(!o)continue;let r=s.relation==="far skip"?"skip":s.relation;e.arrows.push({flow:s,points:o,width:r==="skip"?Math.min(3,ue(s)):ue(s),kind:r})}}var ue=e=>Math.max(1,Math.min(9,.75*Math.log2(1+(e.bytes||e.total)/65536)));function Ll(e,t,s){if(t.isSpan||s.isSpan)return null;let i=Math.round(t.x+t.w/2),n=s.y>t.y,o=[[i,n?t.y+t.h:t.y],[i,n?s.y:s.y+s.h]];return mn(e,o,t,s)?o:null}function zl(e,t,s){let i=Math.max(t.y,s.y),n=Math.min(t.y+t.h,s.y+s.h);if(n-i<10)return null;let o=Math.round((i+n)/2),r=[[t.x+t.w,o],[s.x,o]];return mn(e,r,t,s)?r:null}function Bl(e,t,s,i){let n=e.y+e.h*.75,o=t.y+Math.min(t.h*.25,12),r=[Math.min(n,o),Math.max(n,o)],a=h=>h.every(([d,f])=>f<r[0]||d>r[1]),l=s.ends.findIndex(a);if(l<0&&(l=s.ends.push([])-1),l*an>i-12)return null;s.ends[l].push(r);let c=e.x-10-an*l;return[[e.x,n],[c,n],[c,o],[t.x,o]]}function mn(e,t,s,i){return e.boxes.every(n=>n===s||n===i||!_l(t,n))}function _l(e,t){for(let s=1;s<e.length;s++){let[[i,n],[o,r]]=[e[s-1],e[s]];if(Math.max(i,o)>t.x&&Math.min(i,o)<t.x+t.w&&Math.max(n,r)>t.y&&Math.min(n,r)<t.y+t.h)return!0}return!1}function Wl(e,t){let s=new Map;for(let i of t.view.flows){if(i.relation!=="next")continue;let n=`${i.crossed},${i.source.phase}`,o=s.get(n)??Pl(e,t,i);o&&(s.set(n,o),o.bytes+=i.total/Math.max(1,o.times))}t.pills.push(...s.values())}function Pl(e,t,s){let{phase:i}=s.source,n=t.columns.find(a=>a.phase===i),o=t.bands.find(a=>a.item.fold===s.crossed&&!a.item.isUnfolded&&a.item.row>=0),r=o??t.at.get(z(e.fold.shown[s.crossed],i));return!n||!r?null:{flow:s,phase:i,x:n.x+n.w/2,y:i===Nt?r.y-(o?4:14):r.y+r.h+(o?0:9),bytes:0,times:e.members[s.crossed].length-1}}function Ye(e,t){let s={open:new Set([0]),unfolded:new Set},i=new Set;for(let n=$t(e,s,{room:t,flows:!1});;){let o=Rl(e,n,i);if(o<0)return s;s.open.add(o);let r=$t(e,s,{room:t,flows:!1});if(r.boxes.length<=$l&&r.height<=jl){n=r;continue}s.open.delete(o),i.add(o)}}function Rl(e,t,s){let i=-1,n=0;for(let{item:o}of t.labels){if(o.row<=0||!e.children[o.row].length||s.has(o.row))continue;let r=t.columns.reduce((a,{phase:l})=>a+(t.at.get(z(o.row,l))?.cell.kernels??0),0);r>n&&([i,n]=[o.row,r])}return i}var jt='system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif',we=`12px ${jt}`,H=`600 12px ${jt}`,O=`11px ${jt}`,et=`600 11px ${jt}`,wn=`italic 11px ${jt}`,xe=new Map;function C(e,t,s){let i=s+t,n=xe.get(i);return n===void 0&&(xe.size>2e4&&xe.clear(),e.font=s,xe.set(i,n=e.measureText(t).width)),n}function U(e,t,s,i){let n=t.find(l=>C(e,l,i)<=s);if(n!==void 0)return n;let o=t[t.length-1],r=0,a=o.length;for(;r<a;){let l=r+a+1>>1;C(e,`${o.slice(0,l)}\u2026`,i)<=s?r=l:a=l-1}return r?`${o.slice(0,r).trimEnd()}\u2026`:""}function gn(e,t,s){let{scale:i,ratio:n}=s;e.setTransform(n,0,0,n,0,0),e.fillStyle=s.colors.bg,e.fillRect(0,0,s.width,s.height),e.setTransform(n*i,0,0,n*i,-s.left*n,-s.top*n),e.textBaseline="middle";let o=s.top/i,r=(s.top+s.height)/i,a=l=>l.y-20<r&&l.y+l.h+20>o;for(let l of t.bands)a(l)&&Il(e,t,s,l);for(let l of t.arrows){let c=l.points.map(([,d])=>d),h=Math.min(...c);a({y:h,h:Math.max(...c)-h})&&jn(e,l.points,l.width,Yl(s,l),l.kind==="skip"?.45:.9)}for(let l of t.bands)a(l)&&Dl(e,t,s,l);for(let l of t.labels)a(l)&&Hl(e,t,s,l);for(let l of t.boxes)a(l)&&Kl(e,s,l,t);for(let l of t.arrows)Jl(e,t,s,l);for(let l of t.pills)Ql(e,s,l,t.short);s.hover&&tc(e,t,s,s.hover),s.focus&&Je(e,s.focus,s.colors.select,2),t.isStacked||Nl(e,t,s)}function J(e,t,s,i,n,o){e.beginPath(),e.roundRect(t+.5,s+.5,i,n,o)}function Je(e,t,s,i){e.strokeStyle=s,e.lineWidth=i,J(e,t.x-2,t.y-2,t.w+3,t.h+3,6),e.stroke()}function L(e,t,s,i,n,o){e.font=n,e.fillStyle=o,e.fillText(t,s,i)}function Nl(e,t,s){let{colors:i,words:n,scale:o,ratio:r}=s;e.setTransform(r*o,0,0,r*o,-s.left*r,0),e.fillStyle=i.bg,e.fillRect(s.left/o,0,s.width/o,Y-6);let{is_differentiated:a}=n.graph.header;for(let l of t.columns){let c=l.phase===2?"  \u2191":l.phase===3?"":"  \u2193",h=a?n.graph.phases[l.phase]:"in the order of the program";L(e,h+c,l.x+3,13,`600 13px ${jt}`,i.text),e.fillStyle=i.line,e.fillRect(l.x,24,l.w,1)}}function Il(e,t,s,i){let{colors:n}=s,{item:o}=i,r=ge(t,o);if(e.lineWidth=1,e.strokeStyle=n.rule,r)for(let a of[6,3])J(e,i.x+a,i.y-a,i.w,i.h,4),e.stroke();e.fillStyle=i.depth%2?n.panel:n.band,e.strokeStyle=r||o.isUnfolded?n.line:n.rule,J(e,i.x,i.y,i.w,i.h,4),e.fill(),e.stroke()}var ge=(e,t)=>t.row>=0&&t.fold>=0&&e.view.isClosed[t.fold]===1;function bn(e,t,s,i){return U(t,[`\u25BE ${e.row(i.item,ge(s,i.item)||i.item.isUnfolded)}`],Math.max(120,i.w-20)*.6,H)}function Dl(e,t,s,i){let{colors:n,words:o}=s,{item:r}=i,a=ge(t,r),l=bn(o,e,t,i),c=(v,S)=>{e.fillStyle=i.depth%2?n.panel:n.band,e.fillRect(v-3,i.y+5,S+6,18)};if(c(i.x+8,C(e,l,H)),L(e,l,i.x+8,i.y+14,H,n.text),!a&&!r.isUnfolded)return;let{times:h,alike:d,shown:f}=o.fold(r.fold),u=Qe(e,s,a?h:`${h} side by side`,i.x+16+C(e,l,H),i.y+14)+8,w=a?[`${d} \xB7 ${f}`,`${f} \xB7 ${d}`,f]:["click to fold"],[m,x]=Fl(t,u,i.x+i.w-8,C(e,w[0],O)),g=U(e,w,x,O);c(m,C(e,g,O)),L(e,g,m,i.y+14,O,n.dim)}function Fl(e,t,s,i){let n=e.columns.map(r=>r.x+r.w/2).filter(r=>r>t-8&&r<s),o=[t,...n.map(r=>r+10)].map((r,a)=>[r,(n[a]??s)-r-10]);return o.find(([,r])=>r>=i)??o.reduce((r,a)=>a[1]>r[1]?a:r)}var Ze=(e,t)=>C(e,t,et)+12;function Qe(e,t,s,i,n){let o=Ze(e,s);return e.fillStyle=t.colors.text,J(e,i,n-8.5,o,16,8),e.fill(),L(e,s,i+6,n+.5,et,t.colors.bg),i+o}function vn(e,t,s,i){let{item:n}=i,o=ge(t,n);if(!o&&!n.isUnfolded)return null;let{times:r}=s.fold(n.fold);return{x:i.x+16+C(e,bn(s,e,t,i),H),y:i.y+5,w:Ze(e,o?r:`${r} side by side`),h:18}}function Hl(e,t,s,i){let{item:n,x:o,y:r,w:a}=i,{words:l,colors:c}=s,{graph:h}=l,d=n.fold>=0&&t.view.isClosed[n.fold]===1,f=h.children[n.row].length?"\u25B8 ":"",u=l.row(n,d);if(t.chipWidth){Ul(e,s,i,f+u,d);return}let w=u.indexOf(", "),m=w>0&&C(e,f+u,H)>a;L(e,U(e,[f+(m?u.slice(0,w):u)],a,H),o,r+13,H,c.text);let x=m?u.slice(w+2):h.words["row.holds"](n.row);if(d){let{times:g,alike:v}=l.fold(n.fold),S=Qe(e,s,g,o,r+30);L(e,U(e,[v],a-(S-o)-6,O),S+6,r+30,O,c.dim)}else x&&i.h>=27&&L(e,U(e,[x,x.split(", ")[0]],a,O),o,r+28,O,c.dim)}function Ul(e,t,s,i,n){let{item:o,x:r,y:a,w:l}=s,{words:c,colors:h}=t,d=n?c.fold(o.fold).times:"",f=l-(d?Ze(e,d)+6:0),u=U(e,[i,i.split(", ")[0]],f,H);L(e,u,r,a+12.5,H,h.text);let w=r+C(e,u,H)+6;if(d){Qe(e,t,d,w,a+12.5);return}let m=c.graph.words["row.holds"](o.row),x=r+l-w;m&&C(e,m,O)<=x?L(e,m,w,a+13,O,h.dim):m&&s.h>=38&&L(e,U(e,[m],l,O),r,a+28,O,h.dim)}function Kl(e,t,s,i){let{colors:n}=t,{x:o,y:r,w:a,h:l,cell:c}=s,[h,d]=t.fillOf(s),f=t.found!==null&&!t.found.has(s);if(e.globalAlpha=f?.4:1,e.lineWidth=1,s.isStack)for(let m of[6,3])e.fillStyle=n.bg,e.strokeStyle=d,J(e,o+m,r-m,a,l,5),e.fill(),e.stroke();e.fillStyle=h,e.strokeStyle=d,J(e,o,r,a,l,5),e.fill(),e.stroke(),i.isStacked&&L(e,t.words.phase(c.phase),14,r+12.5,O,n.dim),i.chipWidth?Gl(e,t,s,d):ql(e,t,s),!i.chipWidth&&c.flops>0&&t.mostFlops&&(e.fillStyle=d,e.fillRect(o+1.5,r+l-3,Math.max(2,(a-2)*Math.sqrt(c.flops/t.mostFlops)),3));let u=t.lit.lines.get(s),w=i.chipWidth?Vl:Xl;s.lines.forEach((m,x)=>w(e,t,s,m,u?.has(x)??!1,f)),e.globalAlpha=1,t.lit.boxes.has(s)&&Je(e,s,n.select,2)}function ql(e,t,s){let{colors:i,words:n}=t,{x:o,y:r,w:a,cell:l}=s,c=n.heads(l),h=C(e,c[Math.max(0,c.length-2)],we),d=n.rights(l).find(w=>h+C(e,w,O)+24<=a)??"",f=d?C(e,d,O):0,u=U(e,c,a-16-(d?f+8:0),we);L(e,u,o+8,r+13,we,i.text),d&&L(e,d,o+a-8-f,r+13,O,i.dim),l.parts.length&&(e.setLineDash([2,2]),e.strokeStyle=i.dim,e.lineWidth=1,e.beginPath(),e.moveTo(o+8,r+20.5),e.lineTo(o+8+C(e,u,we),r+20.5),e.stroke(),e.setLineDash([]))}function Xl(e,t,s,i,n,o){let{colors:r,words:a}=t,{x:l,w:c}=s,h=s.y+i.y+F/2,{words:d,figure:f}=a.line(i),u=i.type==="move",w=i.type==="share",m=u||w?t.axisColor(i.of.axes):r.dim;n&&(e.fillStyle=r.strong,e.fillRect(l+2,h-8,c-3,16)),e.globalAlpha=o||(u||w)&&t.isFaded(i.of)?.4:1,u?(e.fillStyle=m,e.fillRect(l+8,h-6,4,13),t.goes(i.of)&&yn(e,l+5,h-8,c-10,r.line)):w&&(e.setLineDash([2,2]),e.strokeStyle=m,e.lineWidth=1,e.strokeRect(l+8.5,h-5.5,3,12),e.setLineDash([]));let x=u?et:wn,g=u?O:wn,v=f?C(e,f,g):0,S=u||w?17:8;L(e,U(e,d,c-S-14-v,x),l+S,h+.5,x,t.hasAxisColors||!u?m:r.text),f&&L(e,f,l+c-8-v,h+.5,g,u?r.text:r.dim),e.globalAlpha=o?.4:1}function Gl(e,t,s,i){let{x:n,y:o,w:r,h:a,cell:l,lines:c}=s;l.matmuls&&(e.fillStyle=i,e.fillRect(n+1,o+2,3,a-3));let{words:h,colors:d}=t,f=c.filter(M=>M.y===c[0].y),u=f.length?f[f.length-1].x+f[f.length-1].w:0,w=r-u-16,[m,x]=[h.rights(l).filter(Boolean),h.heads(l)],[g,v]=[x.slice(0,-1),x.slice(c.length?x.length:-1)],$=[...m.flatMap(M=>g.map(_=>`${_} \xB7 ${M}`)),...l.iterations===1&&!h.isTimed?g:m.length?m:g,...v].find(M=>C(e,M,O)<=w);$&&L(e,$,c.length?n+r-7-C(e,$,O):n+9,o+12.5,O,d.dim)}function Vl(e,t,s,i,n,o){let{colors:r,words:a}=t,[l,c]=[s.x+i.x,s.y+i.y],{words:h,figure:d}=a.chip(i),f=i.type==="move";n&&(e.fillStyle=r.strong,e.strokeStyle=r.select,e.lineWidth=1,J(e,l,c,i.w-1,F,3),e.fill(),e.stroke()),e.globalAlpha=o||f&&t.isFaded(i.of)?.4:1;let u=f?t.axisColor(i.of.axes):r.dim;f&&(e.fillStyle=u,e.fillRect(l+4,c+2.5,4,13),t.goes(i.of)&&!n&&yn(e,l,c,i.w-1,r.line));let w=l+(f?12:4),m=d?C(e,d,O)+4:0,x=U(e,h,i.w-(w-l)-m-3,et);L(e,x,w,c+9.5,f?et:O,t.hasAxisColors||!f?u:r.text),d&&L(e,d,w+C(e,x,et)+4,c+9.5,O,r.text),e.globalAlpha=o?.4:1}function yn(e,t,s,i,n){e.setLineDash([3,2]),e.strokeStyle=n,e.lineWidth=1,J(e,t,s,i,F,3),e.stroke(),e.setLineDash([])}function kn(e,t,s){let{words:i,figure:n}=t.chip(s),o=s.type==="move"?12:4;return Math.ceil(o+C(e,i[0],et)+(n?C(e,n,O)+4:0)+5)}function $n(e,t,s,i){let{words:n,figure:o}=t.line(s),r=i-31-(o?C(e,o,O):0);return s.type!=="move"||n.some(a=>C(e,a,et)<=r)}function Yl(e,t){return e.hover?.cell===t.flow.source?e.colors.out:e.hover?.cell===t.flow.target?e.colors.in:t.kind==="flow"?e.colors.flow:e.colors.line}function jn(e,t,s,i,n){let o=t[t.length-1],r=t[t.length-2],a=Math.hypot(o[0]-r[0],o[1]-r[1])||1,[l,c]=[(o[0]-r[0])/a,(o[1]-r[1])/a],h=Math.min(4+s*.8,a);e.globalAlpha=n,e.strokeStyle=e.fillStyle=i,e.lineWidth=s,e.lineJoin="round",e.beginPath(),t.forEach(([d,f],u)=>u===0?e.moveTo(d,f):u<t.length-1?e.lineTo(d,f):e.lineTo(d-l*h,f-c*h)),e.stroke(),e.beginPath(),e.moveTo(o[0],o[1]);for(let d of[1,-1])e.lineTo(o[0]-l*h-d*c*h*.6,o[1]-c*h+d*l*h*.6);e.fill(),e.globalAlpha=1}function Jl(e,t,s,i){if(i.kind==="skip"||t.chipWidth)return;let n=s.words.flowWays(i.flow),[[o,r],[a,l]]=i.points;if(i.kind==="flow")return xn(e,s,n[0],o-8-i.width/2-C(e,n[0],O),Zl(t,r,l));let c=U(e,n,a-o-4,O);xn(e,s,c,(o+a)/2-C(e,c,O)/2-1,r-8-i.width/2)}function Zl(e,t,s){let[i,n]=[Math.min(t,s),Math.max(t,s)],o=r=>e.bands.every(a=>(r<a.y-7||r>a.y+(a.item.fold>=0?26:7))&&Math.abs(r-a.y-a.h)>7);return[(i+n)/2,i+9,n-9].find(o)??(i+n)/2}function xn(e,t,s,i,n){e.font=O,e.lineWidth=3,e.lineJoin="round",e.strokeStyle=t.colors.bg,e.globalAlpha=.9,e.strokeText(s,i,n),e.globalAlpha=1,e.fillStyle=t.colors.dim,e.fillText(s,i,n)}function Ql(e,t,s,i){let n=`\u21BB ${i?"":"next "}\xD7${s.times}  ${y(Math.round(s.bytes))}`,o=C(e,n,O)+14,r=s.x+10,a=s.y-8;e.fillStyle=t.colors.bg,e.strokeStyle=t.colors.line,e.lineWidth=1,e.setLineDash([3,2]),J(e,r,a,o,16,8),e.fill(),e.stroke(),e.setLineDash([]),L(e,n,r+7,a+8.5,O,t.colors.dim)}function tc(e,t,s,i){let n=new Set(t.arrows.map(l=>l.flow)),o=t.view.flows.filter(l=>l.source===i.cell||l.target===i.cell),r=new Set([i.cell,...o.flatMap(l=>[l.source,l.target])]);e.fillStyle=s.colors.bg,e.globalAlpha=.6;for(let l of t.boxes)r.has(l.cell)||e.fillRect(l.x-1,l.y-1,l.w+3,l.h+3);e.globalAlpha=1;let a=0;for(let l of o){let c=t.boxes.find(f=>f.cell===l.source),h=t.boxes.find(f=>f.cell===l.target);if(n.has(l)||!c||!h||c===h)continue;let d=Math.max(1.5,Math.min(5,ue(l)));jn(e,ec(t,c,h,a++),d,c===i?s.colors.out:s.colors.in,.85)}Je(e,i,s.colors.text,2)}function ec(e,t,s,i){let n=10+5*(i%7),o=t.y+Math.min(t.h-6,t.h*.62),r=s.y+Math.min(s.h-6,me/2+3*(i%4));if(t.x===s.x){let w=t.x+Math.max(t.w,s.w);return[[t.x+t.w,o],[w+n,o],[w+n,r],[s.x+s.w,r]]}let a=s.x>t.x,l=a?t.x+t.w:t.x,c=a?s.x:s.x+s.w,h=a?c-n:c+n,d=a?l+n:l-n;if(!e.columns.some(w=>a?w.x>t.x&&w.x<s.x:w.x>s.x&&w.x<t.x))return[[l,o],[h,o],[h,r],[c,r]];let u=sc(e,t,s);return[[l,o],[d,o],[d,u],[h,u],[h,r],[c,r]]}function sc(e,t,s){let i=s.isSpan?t.y:s.y,n=r=>e.boxes.every(a=>a.x===s.x||a.x===t.x||r<a.y||r>a.y+a.h);return e.boxes.filter(r=>!r.isSpan).flatMap(r=>[r.y-6,r.y+r.h+6]).filter(n).reduce((r,a)=>Math.abs(a-i)<Math.abs(r-i)?a:r,i-6)}function Sn(e,t,s){let{vis:i,stand:n}=t.view;return t.at.get(z(i[n[e.box.row[s]]],e.box.phase[s]))??null}function An(e,t,s){let{selection:i}=e.state,n={lines:new Map,boxes:new Set};if(!i)return n;let o=ic(e,t,i);for(let a of o){let{vis:l,stand:c,cells:h}=s.view,d=z(l[c[t.box.row[a]]],t.box.phase[a]),f=s.at.get(d);h.get(d)?.boxes.includes(a)?f&&n.boxes.add(f):n.hidden??=a}let{listed:r}=e;return r?.type==="collective"&&oc(t,s,r.row,n),n}function ic(e,t,s){let{kernel:i}=t;if(s.type==="collective")return new Set([...t.collective.row].flatMap((a,l)=>a===s.row?[t.collective.box[l]]:[]));if(s.type==="buffer"){let{own:a,kernels:l}=e.selected??{own:null,kernels:[]};return a?.type==="array"?Mn(e,t):new Set(l.map(c=>i.box[c]))}if(s.type==="array")return Mn(e,t);let[n,o]=s.type==="kernel"?[i.entity,2*s.row+1]:[i.spot,s.row],r=new Set;for(let a=0;a<t.kernels;a++)n[a]===o&&r.add(i.box[a]);return r}function Mn(e,t){let{listed:s}=e,i=s?e.rows(`${s.type}s`)[s.row]:null;return new Set(Tn(t,i).map(n=>t.kernel.box[n]))}function On(e,t){let s=new Set([t?.name,...t?.names??[]]),i=new Set;if(t?.role!=="input")return i;for(let n=0;n<(e.header.arguments??0);n++)s.has(e.words.arguments(n))&&i.add(-2-n);return i}function Tn(e,t){let{source:s,ends:i}=e.read,n=On(e,t),o=r=>{let[a,l]=E(i,r);for(let c=a;c<l;c++)if(n.has(s[c]))return!0;return!1};return n.size?Array.from({length:e.kernels},(r,a)=>a).filter(o):[]}function nc(e,t){let{source:s,ends:i}=e.read,n=On(e,t),o=[];for(let r=0;n.size&&r<e.kernels;r++){let[a,l]=E(i,r);a===l||!s.subarray(a,l).every(c=>n.has(c))||(n.add(r),o.push(r))}return o}function Cn(e,t,s){let i=new Set,n=new Map,o=new Map([...t.collective.kernel].map((r,a)=>[r,t.collective.row[a]]));for(let r of nc(t,s)){let a=o.get(r)??-1;a>=0&&i.add(a)}for(let r of Tn(t,s))if(!o.has(r)){let a=t.words.labels(t.kernel.label[r]),l=t.kernel.spot[r]<0?"":e.spotName(t.kernel.spot[r]),c=n.get(`${a} ${l}`)??{words:a,place:l,count:0};c.count++,n.set(`${a} ${l}`,c)}return{collectives:[...i].sort((r,a)=>r-a),kernels:[...n.values()]}}function oc(e,t,s,i){for(let n of t.boxes)n.lines.forEach((o,r)=>{let a=o.type==="more"?o.rest:[o],l=c=>(c.type==="move"||c.type==="share")&&c.of.collectives.some(h=>e.collective.row[h]===s);a.some(l)&&(i.lines.has(n)||i.lines.set(n,new Set),i.lines.get(n)?.add(r))})}function ts(e,t,s){let{parent:i,fold:n}=e.row;for(let o=e.box.row[s];o>0;o=i[o])n[o]>=0&&e.fold.shown[n[o]]!==o&&t.unfolded.add(n[o]),t.open.add(i[o])}var be=class{constructor(t,s,i){this.graph=t,this.code=i,this.words=s,this.texts=null}find(t){let s=te(t);if(!s)return[];this.texts??=Array.from({length:this.graph.boxes},(o,r)=>this._text(r));let i=this.texts.flatMap((o,r)=>s(o)?[r]:[]),n=new Set(i.map(o=>this._key(this.graph.box.row[o],o)));return i.filter(o=>{let r=this.graph.box.row[o],a=this.graph.row.shown_as[r];return a===r||!n.has(this._key(a,o))})}_key(t,s){return t*4+this.graph.box.phase[s]}_text(t){let{graph:s,words:i}=this,n=s.box.row[t],o=[i.phase(s.box.phase[t]),s.path(n),s.words["row.holds"](n)],[r,a]=E(s.move.ends,t);for(let c=r;c<a;c++)o.push(s.header.kinds[s.move.kind[c]],i.axes(s.move.axes[c]));let l=s.kernelsOf(t);for(let c of l)o.push(s.words["kernel.names"](c),s.words.labels(s.kernel.label[c]),...rc(s,c).map(h=>s.words.arguments(h)));for(let c of new Set(l.map(h=>s.kernel.spot[h])))o.push(this.code(c));return o.join(" ")}};function rc(e,t){let{source:s,ends:i}=e.read,[n,o]=E(i,t),r=new Set;for(let a=n;a<o;a++)s[a]<=-2&&r.add(-2-s[a]);return[...r]}var ve=class{constructor(t){this.view=t,this.search=new be(t.graph,t.words,s=>t.store.spotWords(s)),this.hits=[],this.hit=-1,this.known=null,this.field=p("input",{type:"search",class:"search",placeholder:"Find in the graph","aria-label":"Find a scope, kernel or collective in the graph; Enter goes to the next",oninput:()=>this.find(),onkeydown:s=>this.key(s)}),this.count=p("span.hits",{"aria-live":"polite"}),this.parts=[this.field,this.count]}find(){this.hits=this.search.find(this.field.value),this.hit=-1,this.say(),this.view.paint()}say(){let t=this.field.value.trim()?"nothing":"",s=b(this.hits.length);this.count.textContent=this.hits.length?this.hit<0?s:`${this.hit+1} of ${s}`:t}boxes(){let{layout:t,graph:s}=this.view,{hits:i}=this;if(!t||!this.field.value.trim())return null;if(this.known?.layout!==t||this.known.hits!==i){let n=i.flatMap(o=>Sn(s,t,o)??[]);this.known={layout:t,hits:i,boxes:new Set(n)}}return this.known.boxes}key(t){t.key==="Escape"&&this.field.value&&(t.stopPropagation(),this.field.value="",this.find()),!(t.key!=="Enter"||!this.hits.length)&&(t.preventDefault(),this.hit=(this.hit+(t.shiftKey?-1:1)+this.hits.length)%this.hits.length,this.say(),this.view.goTo(this.hits[this.hit]))}};var It=(e,t,s)=>t>=e.x&&t<=e.x+e.w&&s>=e.y&&s<=e.y+e.h;function En(e,t,s,i){let n=e.boxes.find(a=>It(a,t,s));if(n){let a=n.lines.findIndex(l=>It({x:n.x+l.x,y:n.y+l.y,w:l.w,h:F-.01},t,s));return a<0?{type:"box",box:n}:{type:"line",box:n,line:a}}for(let a=e.bands.length-1;a>=0;a--){let l=e.bands[a],c=i(l);if(c&&It(c,t,s))return{type:"badge",item:l.item};if(It({...l,h:e.measures.band},t,s))return{type:"band",item:l.item}}let o=e.labels.find(a=>It({...a,h:Math.min(a.h,40)},t,s));return o?o.item.fold>=0&&e.view.isClosed[o.item.fold]===1&&!e.chipWidth&&s>o.y+21&&t<o.x+34?{type:"badge",item:o.item}:{type:"label",item:o.item}:null}var es=6;function zn(e,t,s){if(e.type==="box")return ac(e.box.cell,t,s);if(e.type==="line")return cc(e.box,e.line,s);let{item:i}=e,{graph:n}=s,o=i.fold>=0&&(i.isUnfolded||t.view.isClosed[i.fold]===1);if(e.type==="badge")return[s.fold(i.fold).name,i.isUnfolded?"Click: one for all":"Click: each by itself",s.fold(i.fold).alike];let r=o?s.fold(i.fold).name:n.path(i.row),a=i.row>0?n.words["row.holds"](i.row):"",l=i.isUnfolded||n.children[i.row].length>0;return[r,a,o?`${s.fold(i.fold).alike}; ${s.fold(i.fold).shown}`:"",l?`Click: ${i.isUnfolded?"fold":i.isOpen?"close":"open"}`:""].filter(Boolean)}function ac(e,t,s){let i=[`${j(e.kernels,s.graph.work)} (modelled${e.inferred?`; ${b(e.inferred)} by inference`:""})`,e.matmuls?`${j(e.matmuls,"matmul")}, ${e.flops<0?"FLOPs unknown":wt(e.flops)} (counted)`:"",`writes ${y(e.bytes)} (counted)`].filter(Boolean),n=e.slowest<0?"":` in ${s.graph.label(e.slowest)}, the slowest of ${e.times}`,o=e.time<0?[]:[`${D(e.time)} per call${n} (measured, each kernel on its slowest device)`],r=e.iterations===1?[]:[e.iterations<0?"all per trip of a loop; how many trips is unknown":`all per trip; ${b(e.iterations)} trips per call`],a=e.times>1?[`one of ${e.times}: ${e.time<0?"":"other "}figures are those of the shown one`]:[],l=e.differences.length>3?e.differences.slice(3).map(c=>s.fullLine({type:"difference",of:c})):[];return[s.cell(e),i.join(", "),...o,...r,...a,...lc(e,s),...Ln(e,t,s,"target"),...Ln(e,t,s,"source"),...l]}function lc(e,t){let{graph:s}=t,i=new Set(e.boxes),n=new Set,o=new Set;for(let[r]of e.parts)(i.has(s.kernel.box[r])?n:o).add(r);return[n.size?`${j(n.size,"fusion")} here also work${n.size===1?"s":""} for other boxes`:"",o.size?`${j(o.size,"fusion")} in other boxes also work${o.size===1?"s":""} for this one`:""].filter(Boolean)}function Ln(e,t,s,i){let n=i==="source"?"target":"source",o=t.view.flows.filter(c=>c[i]===e).sort((c,h)=>(h.bytes||h.total)-(c.bytes||c.total));if(!o.length)return[];let r=i==="target"?"\u2190":"\u2192",a=o.slice(0,es).map(c=>{let h=c.relation==="next"?", next layer":c[n]===e?", another layer":"";return`${r} ${s.flow(c)} \xB7 ${s.cell(c[n])}${h}`}),l=o.length>es?[`${r} and ${o.length-es} smaller`]:[];return[i==="target"?"reads":"gives to",...a,...l]}function cc(e,t,s){let i=e.lines[t];if(i.type==="more")return[s.cell(e.cell),...i.rest.map(c=>s.fullLine(c)),"Click: open"];let n=s.fullLine(i),o=s.cell(e.cell);if(i.type==="difference")return[n,`against the shown one, in ${o}`,i.of.members.slice(0,8).map(c=>s.graph.label(c)).join(", "),"Click: open that layer"];if(i.type==="share")return[n,o,"Its share of an instruction that stands, and is counted, in another box","Click: select it"];let{runs:r,count:a}=i.of,l=r<0?"how often they run is unknown":r===a?"":`run ${b(r)} times per call; bytes of one run each`;return[n,o,"what each device sends for them (modelled, ring)",l,"Click: select"].filter(Boolean)}var hc=4,pc=250;function _n(e){let{canvas:t,box:s}=e,i=q(s),n=0,o=()=>{clearTimeout(n),i.hide()},a=dc(e,l=>{let c=Bn(e,l);t.classList.toggle("link",c!==null&&(c.type!=="label"||e.graph.children[c.item.row].length>0)),e.hoverOn(c&&(c.type==="box"||c.type==="line")?c.box:null);let h=c&&e.layout?zn(c,e.layout,e.words):[];o(),h.length&&(n=setTimeout(()=>i.show(h,l.clientX,l.clientY),pc))},o);return t.addEventListener("click",l=>{a()||(o(),fc(e,Bn(e,l)))}),t.addEventListener("pointerleave",()=>{o(),e.hoverOn(null)}),e.view.addEventListener("wheel",l=>uc(e,l),{passive:!1}),{quiet:o}}function dc({canvas:e,box:t},s,i){let n=null,o=!1;e.addEventListener("pointerdown",a=>{o=!1,!(a.button!==0||a.pointerType==="touch")&&(n={x:a.clientX,y:a.clientY,left:t.scrollLeft,top:t.scrollTop})}),e.addEventListener("pointermove",a=>{if(!n)return s(a);!o&&Math.hypot(a.clientX-n.x,a.clientY-n.y)<hc||(o||e.setPointerCapture(a.pointerId),o=!0,i(),e.classList.add("grab"),t.scrollLeft=n.left-(a.clientX-n.x),t.scrollTop=n.top-(a.clientY-n.y))});let r=()=>{n=null,e.classList.remove("grab")};return e.addEventListener("pointerup",r),e.addEventListener("pointercancel",r),()=>o}function Bn({canvas:e,box:t,layout:s,scale:i,words:n},o){let r=e.getBoundingClientRect(),a=e.getContext("2d");if(!s||!a||o.clientY-r.top<(Y-8)*i)return null;let l=(o.clientX-r.left+t.scrollLeft)/i,c=(o.clientY-r.top+t.scrollTop)/i;return En(s,l,c,h=>vn(a,s,n,h))}function fc(e,t){e.focus=null,t&&(t.type==="badge"?e.unfold(t.item.fold):t.type==="band"||t.type==="label"?e.choose(t.item):t.type==="line"?e.pick(t.box,t.line):e.enter(t.box))}function uc(e,t){if(!t.ctrlKey&&!t.metaKey)return;t.preventDefault();let s=e.canvas.getBoundingClientRect();e.zoom(Math.exp(-Math.max(-60,Math.min(60,t.deltaY))*.01),t.clientX-s.left,t.clientY-s.top)}var mc={"collective-permute":"permute","collective-broadcast":"broadcast","ragged-all-to-all":"ragged a2a"},ye=class{constructor(t,s){this.graph=t,this.sets=s,this.isTimed=!1}axes(t){let s=this.sets[t];return s.words==="axis unknown"?"":s.words}kind(t){let s=this.graph.header.kinds[t];return mc[s]??s}phase(t){return this.graph.header.is_differentiated?this.graph.phases[t]:"program"}cell(t){let{graph:s}=this,i=t.row?s.path(t.row):"the whole program";return s.header.is_differentiated?`${this.phase(t.phase)} \xB7 ${i}`:i}heads(t){let s=j(t.kernels,this.graph.work);return t.matmuls?[`${s} \xB7 ${j(t.matmuls,"matmul")}`,s,b(t.kernels)]:[s,b(t.kernels)]}right(t){return this.isTimed?t.time<0?"":D(t.time):t.iterations>1?`per trip, \xD7${b(t.iterations)}`:t.iterations<0?"per trip":t.matmuls&&t.flops>0?wt(t.flops):""}rights(t){let s=this.right(t);return t.iterations===1||this.isTimed?[s]:[s,"per trip","\u21BB"]}line({type:t,of:s}){if(t==="more")return{words:[`${j(s,"more difference")}`,`+${b(s)}`],figure:""};let i=this.kind(s.kind),n=this.axes(s.axes),o=n.replace(/ \u00d7 /g,"\xD7");if(t==="move"){let c=`${b(s.count)}\xD7`;return{words:[`${c} ${i}  ${n}`,`${s.count>1?`${c} `:""}${i} ${o}`],figure:y(s.bytes)}}if(t==="share")return{words:[`in a combined ${i} ${n}`,`in combined ${i} ${o}`],figure:y(s.bytes)};let r=s.members.length>2?`${s.members.length} others`:s.members.map(c=>this.graph.label(c)).join(", "),a=s.members.length>2?r:r.replace(/[^\d, ]+/g,"")||r,l=s.count?`${s.count>0?"+":"\u2212"}${Math.abs(s.count)} `:"";return{words:[`${r}: ${l}${i} ${n}`,`${a}: ${l}${i} ${o}`],figure:`${s.bytes<0?"\u2212":"+"}${y(Math.abs(s.bytes))}`}}chip(t){if(t.type==="more")return{words:[`+${b(t.of)}`],figure:""};let{of:s}=t;return{words:[`${s.count>1?`${b(s.count)}\xD7 `:""}${this.kind(s.kind)} ${this.axes(s.axes).replace(/ \u00d7 /g,"\xD7")}`.trim()],figure:Lt(s.bytes)}}contents(t){return t.type==="more"?t.rest:[t]}fullLine(t){let{words:s,figure:i}=this.line(t);return[s[0].replace(/\s+/g," "),i].filter(Boolean).join(" ")}flow(t){return t.bytes?t.outside&&t.members>1?`${y(t.bytes)} \xD7${t.members}`:y(t.bytes):t.members===1?`${y(t.total)} ${this.graph.label(t.member)}`:`${y(t.total)} in all`}flowWays(t){let s=t.bytes||t.total,i=t.bytes&&t.outside&&t.members>1?` \xD7${t.members}`:"",n=Lt(s);return[this.flow(t),n+i,n,n.replace(/ (.).*/,"$1")]}fold(t){let{graph:s}=this,i=s.members[t],n=s.fold.shown[t],o=this._start(t),r=i.map((h,d)=>[h,s.fold.likeness[o+d]]).filter(([h,d])=>h!==n&&d<1),a=i.length-r.length,l=r.length<=2?r.map(([h,d])=>`${s.label(h)} ${ht(d)}`).join(", "):`${r.length} others ${ht(Math.min(...r.map(([,h])=>h)))} or more`,c=r.length?`${a>1?`${a} identical; `:""}${l} alike`:"all identical";return{name:s.words["fold.labels"](t),times:`\xD7${i.length}`,alike:c,shown:`shown: ${s.label(n)}`}}_start(t){return this.graph.members.slice(0,t).reduce((s,i)=>s+i.length,0)}row(t,s){let{graph:i}=this;return t.row<0||s?this.fold(t.fold).name:t.row===0?"the whole program":i.kind(t.row)==="loop"?`${i.label(t.row)}${this.trips(t.row)}`:i.label(t.row)}trips(t){let s=this.graph.row.trips[t];return s<0?", trips unknown":` \xD7${b(s)}`}box(t,s){let i=[this.heads(t)[0],this.right(t)].filter(Boolean).join(", "),n=s.flatMap(o=>this.contents(o));return[`${this.phase(t.phase)}: ${i}`,...n.map(o=>this.fullLine(o))].join("; ")}};function Wn(e,t){let s=[];for(let i of e.view.items){let n=i.fold>=0&&e.view.isClosed[i.fold]===1,o="  ".repeat(i.depth),r=n?` ${t.fold(i.fold).times} (${t.fold(i.fold).shown})`:"";s.push(`${o}${t.row(i,n)}${r}`);for(let a of e.boxes){if(i.row<0||a.cell.row!==i.row)continue;let l=[t.heads(a.cell)[0],t.right(a.cell)].filter(Boolean).join(", ");s.push(`${o}  ${t.phase(a.cell.phase)}: ${l}`);let c=a.lines.flatMap(h=>t.contents(h));for(let h of c)s.push(`${o}    ${t.fullLine(h)}`)}}return s.join(`
`)}function Pn(e,t,s){let i=[];for(let n of e.view.items){let o=n.row>=0&&n.fold>=0&&e.view.isClosed[n.fold]===1,r=n.depth+1,a=n.isUnfolded||t.graph.children[n.row]?.length>0,l=o||n.isUnfolded?`, ${t.fold(n.fold).times}, ${o?t.fold(n.fold).shown:"side by side"}`:"";if(i.push({key:n.isUnfolded?`f${n.fold}`:`r${n.row}`,level:r,name:t.row(n,o)+l,expanded:a?n.isOpen:null,item:n,box:null,line:-1}),!(n.row<0))for(let{phase:c}of e.columns){let h=z(n.row,c),d=e.at.get(h);if(!d)continue;let f=d.lines.length>0,u=s.has(h);i.push({key:`b${h}`,level:r+1,name:t.box(d.cell,d.lines),expanded:f?u:null,item:n,box:d,line:-1}),u&&d.lines.forEach((w,m)=>i.push({key:`l${h},${m}`,level:r+2,name:t.fullLine(w),expanded:null,item:n,box:d,line:m}))}}return i}function Rn(e){let t=`pjit-tree-${++wc}-`,s=p("div.offscreen.graphtree",{role:"tree",tabindex:0,"aria-label":"Graph: scopes by phases. Arrows move, Enter opens or selects."}),i=[],n="",o=()=>i.findIndex(c=>c.key===n),r=c=>{let h=i[c]??null;n=h?.key??"";let d=s.children[c];s.querySelector("[aria-selected=true]")?.setAttribute("aria-selected","false"),d?.setAttribute("aria-selected","true"),d?s.setAttribute("aria-activedescendant",d.id):s.removeAttribute("aria-activedescendant"),e.moved(document.activeElement===s||s.getRootNode()instanceof ShadowRoot?h:null)},a=()=>{i=e.nodes(),s.replaceChildren(...i.map((c,h)=>p("div",{id:t+h,role:"treeitem","aria-level":c.level,"aria-expanded":c.expanded===null?void 0:String(c.expanded),"aria-selected":String(c.key===n)},p("bdi",c.name)))),n&&o()<0&&(n=""),n&&s.setAttribute("aria-activedescendant",t+o())};return s.addEventListener("focus",()=>{a(),r(Math.max(0,o()))}),s.addEventListener("blur",()=>e.moved(null)),s.addEventListener("keydown",c=>{if(c.ctrlKey||c.metaKey||c.altKey)return;let h=xc(c.key,i,o());if(h===null)return e.key(c);if(c.preventDefault(),typeof h=="number")return r(h);h.open===null?e.act(i[o()]):e.open(i[o()],h.open),a(),r(Math.max(0,o()))}),{element:s,update:a,choose:c=>{n=c}}}var wc=0;function xc(e,t,s){if(!t.length)return null;let i=t[s]??t[0];if(e==="ArrowDown")return Math.min(t.length-1,s+1);if(e==="ArrowUp")return Math.max(0,s-1);if(e==="Home")return 0;if(e==="End")return t.length-1;if(e==="Enter"||e===" ")return{open:null};if(e==="ArrowRight")return i.expanded===!1?{open:!0}:t[s+1]?.level>i.level?s+1:s;if(e==="ArrowLeft"){if(i.expanded)return{open:!1};for(let n=s-1;n>=0;n--)if(t[n].level<i.level)return n;return s}return null}function st(e,t,s,i,n=()=>{}){i.hidden=!0;let o=()=>a(!!i.hidden),r=p("button",{...t,class:`button ${t.class??""}`,"aria-expanded":"false",onclick:o},s),a=l=>{l&&n(),i.hidden=!l,r.setAttribute("aria-expanded",String(l))};return e.closers.push(()=>i.hidden?!1:(a(!1),r.focus({preventScroll:!0}),!0)),{button:r,show:a}}var Dt=560,gc=640,bc=.3,vc=3,Nn=.9,mt=(e,t,s,i="")=>p("button",{class:`button ${i}`,title:t,"aria-label":t,onclick:s},e);function In(e,t){let s=p("section.graph",{"aria-label":"Graph"}),i=null;return e.listen(n=>{if(n.has("data")&&e.data){let o=sn(e.data),r=s.closest(".pjit-inspector")?.classList.contains("inset");i=o&&new ss(e,o,t,r),e.usesOf=a=>o?Cn(e,o,a):{collectives:[],kernels:[]},e.graphNeed=()=>i?.need??{height:0,isFlow:!1},s.replaceChildren(...i?i.parts:[p("p.nothing",e.data.header.graph?.missing||"No graph of this record.")])}i?.changed(n)}),s}var yc=(e,t)=>t?{x:e.x+t.x+3,y:e.y+t.y+1,w:t.w-6,h:F-2}:e,ss=class{shown=null;before=null;layout=null;lit={lines:new Map,boxes:new Set};hover=null;focus=null;openBoxes=new Set;scale=1;width=0;height=0;mostFlops=0;isStacked=!1;isCompact=!1;wantsCompact=null;isStale=!1;hasBegun=!1;colors={};fillOf=null;idle=void 0;canvas=p("canvas",{role:"img","aria-label":"The graph; the tree beside it says the same"});pen=this.canvas.getContext("2d",{alpha:!1});space=p("div.graphspace",p("div.graphstick",this.canvas));box=p("div.graphbox",{tabindex:-1},this.space);view=p("div.graphview",this.box);foot=p("div.graphfoot");said=p("div");stripButton=mt("Schedule","Show or hide when kernels run",()=>this.showStrip(!!this.strip.hidden),"flowkeep");paintSoon=R(()=>this.isVisible&&this.paintNow());constructor(t,s,i,n=!1){n&&this.view.append(this.canvas),this.store=t,this.graph=s,this.strip=i,this.sets=t.data?.header.axis_sets??[],this.words=new ye(s,this.sets),this.flow=t.data?.header.flow?new de(t,n):null,this.isTimed=this.words.isTimed=!!s.header.measured,this.finder=new ve(this),this.tree=Rn({nodes:()=>this.layout?Pn(this.layout,this.words,this.openBoxes):[],act:a=>this.act(a),open:(a,l)=>this.openNode(a,l),moved:a=>this.moved(a),key:a=>this.key(a)}),this.flowButton=mt("Boxes","Show rows of boxes, or the flow of all kernels",()=>this.showFlow(!!this.flow?.element.hidden),"flowkeep"),this.compactButton=mt("Compact","Low rows, or all there is to say",()=>this.toggleCompact()),this.bar=this.toolbar(),this.parts=[this.bar,this.tree.element,...this.flow?[this.flow.element]:[],this.view,this.foot,this.strip];let o=_n(this),r=()=>{o.quiet(),this.paint()};this.box.addEventListener("scroll",r,{passive:!0}),new ResizeObserver(()=>this.resized()).observe(this.box)}toolbar(){let t="Copy the graph as text",i=Q("Copy",()=>this.layout?Wn(this.layout,this.words):"",{title:t,"aria-label":t}),n=p("div.menu.viewmenu",{role:"group","aria-label":"View of the graph"},p("span.chips",mt("\u2212","Zoom out (-)",()=>this.zoom(1/1.2)),mt("Fit","Fit the width (0)",()=>this.fit()),mt("+","Zoom in (+)",()=>this.zoom(1.2)),this.compactButton,mt("Reset","Open what is open at first",()=>this.reset()),i),this.said),{button:o}=st(this.store,{title:"Zoom, how to read it"},"View \u25BE",n);return p("div.graphbar",this.flow?this.flowButton:null,...this.finder.parts,this.stripButton,p("span.pop.push",o,n))}showFlow(t){this.flow&&(this.flow.element.hidden=!t,this.flowButton.textContent=t?"Boxes":"Flow",this.view.parentElement?.classList.toggle("flowing",t),t?this.flow.update():this.resized())}get need(){let t=!!(this.flow&&!this.flow.element.hidden),s=t?this.flow?.need??0:(this.layout?.height??0)*this.scale+this.foot.offsetHeight;return{height:this.bar.offsetHeight+s+this.strip.offsetHeight+6,isFlow:t}}showStrip(t){this.strip.hidden=!t,this.stripButton.setAttribute("aria-pressed",String(t))}changed(t){t.has("theme")&&this.dress(),(t.has("centre")||t.has("pane")||t.has("wide"))&&this.resized(),(t.has("selection")||t.has("height"))&&this.flow?.update(),t.has("selection")?this.selected():["axes","kind","list","advice","isChanged"].some(s=>t.has(s))&&this.paint()}get isVisible(){return this.box.clientWidth>0&&this.box.clientHeight>0}resized(){let t=this.view.parentElement;if(t?.clientWidth&&!this.hasBegun&&this.begin(t),!this.layout&&t?.clientHeight&&this.showStrip(t.clientWidth>=Dt&&t.clientHeight>=gc),!this.isVisible)return;let{clientWidth:s,clientHeight:i}=this.box;if(this.layout&&s===this.width&&i===this.height&&!this.isStale)return;let n=!this.layout;[this.width,this.height]=[s,i],this.shown??=Ye(this.graph,Math.max(s,Dt)),this.isCompact=this.wantsCompact??!this.fitsRoomy(s,i),this.compactButton.setAttribute("aria-pressed",String(this.isCompact)),this.isStacked=this.graph.columns.length>1&&(s<Dt||this.isCompact&&!this.fitsWords(s)),this.isStacked&&(this.isCompact=!0),this.arrange(),this.fit(),this.dress(),(n||this.isStale)&&this.selected(),this.isStale=!1}begin(t){this.hasBegun=!0;let s=this.flow?.fits(t.clientWidth)??!1;this.showFlow(s),!(s||this.graph.boxes!==1)&&Ue(this.store,0,this.view,void 0,!0)}fitsRoomy(t,s){if(!this.shown||t<Dt&&this.graph.columns.length>1)return!1;let i=$t(this.graph,this.shown,{room:t,flows:!1});return i.boxes.every(({lines:o,w:r})=>o.every(a=>$n(this.pen,this.words,a,r)))&&i.height<=s&&i.width*Nn<=t}fitsWords(t){if(!this.shown)return!0;let{boxes:s}=$t(this.graph,this.shown,{room:t,flows:!1,chipWidth:this.chipWidth});return s.every(({lines:i})=>i.every(n=>n.type!=="move"||this.chipWidth(n)<=n.w))}chipWidth=t=>kn(this.pen,this.words,t);toggleCompact(){this.wantsCompact=!this.isCompact,this.isStale=!0,this.resized()}arrange(){this.shown&&(this.layout=$t(this.graph,this.shown,{room:this.width,isStacked:this.isStacked,chipWidth:this.isCompact?this.chipWidth:void 0}),this.mostFlops=Math.max(0,...this.layout.boxes.map(t=>t.cell.flops)),this.hover=null,this.relit(),this.size(this.box.scrollTop>0?this.box.scrollTop+this.box.clientHeight:0),clearTimeout(this.idle),this.idle=setTimeout(()=>this.tree.update(),60))}size(t=0){this.layout&&(this.space.style.width=`${Math.max(this.layout.width*this.scale,1)}px`,this.space.style.height=`${Math.max(this.layout.height*this.scale,t)}px`,this.paint())}dress(){this.layout&&(this.recolor(),this.isTimed&&this.foot.replaceChildren(tn(this.graph.header.measured,this.layout)),this.said.replaceChildren(...this.notes().map(t=>p("p.dim",t))),this.paint())}recolor(){this.layout&&(this.colors=Ji(this.box),this.fillOf=Qi(this.isTimed,this.layout,this.colors))}notes(){let{graph:t,layout:s}=this,i=[...s?.view.cells.values()??[]];return[`${t.work[0].toUpperCase()}${t.work.slice(1)}s are assigned to boxes by estimate.`,!t.header.has_scopes&&"Rows follow functions, loops and arguments: the program names no scopes.",i.some(n=>n.iterations!==1)&&"\u201CPer trip\u201D is one iteration of a loop.",i.some(n=>n.moves.some(o=>this.sets[o.axes].words.includes(":(")))&&"axis:(m)k is a part of an axis, k devices long, after parts of m devices together.",i.some(n=>n.shares.length)&&"A dashed bar is a share of a combined collective, which another box counts.",i.some(n=>n.parts.length)&&"A dashed line marks fusions that work for several boxes.",i.some(n=>n.matmuls)&&"A thick left edge marks matrix products."].filter(n=>n!==!1)}paint(){this.layout&&this.paintSoon()}paintNow(){let{canvas:t,layout:s,box:i,store:n,fillOf:o}=this;if(!s||!o)return;getComputedStyle(i).getPropertyValue("--bg").trim()!==this.colors.bg&&this.recolor();let r=devicePixelRatio||1,a=i.clientWidth,l=i.clientHeight;(t.width!==Math.round(a*r)||t.height!==Math.round(l*r))&&(t.width=Math.round(a*r),t.height=Math.round(l*r),t.style.width=`${a}px`,t.style.height=`${l}px`);let c=this.pen,{axes:h,kind:d,isChanged:f}=n.state,u=n.rows("collectives"),w=x=>n.removed.size>0&&x.collectives.every(g=>n.goes(u[this.graph.collective.row[g]])),m=this.graph.header.kinds;gn(c,s,{scale:this.scale,left:i.scrollLeft,top:i.scrollTop,width:a,height:l,ratio:r,colors:this.colors,words:this.words,axisColor:x=>this.colors[A(this.sets[x].axes,n.first.axes)],fillOf:o,hasAxisColors:!this.isTimed,lit:this.lit,goes:w,isFaded:x=>h!==null&&x.axes!==h||d!==null&&m[x.kind]!==d||f&&w(x),hover:this.hover,focus:this.focusPlace(),found:this.finder.boxes(),mostFlops:this.mostFlops})}toggle(t,s){!this.shown||!this.graph.children[t]?.length||(this.before=null,s??!this.shown.open.has(t)?this.shown.open.add(t):this.shown.open.delete(t),this.arrange(),this.dress())}unfold(t){this.shown&&(this.before=null,this.shown.unfolded.delete(t)||this.shown.unfolded.add(t),this.arrange(),this.dress())}reset(){this.before=null,this.shown=Ye(this.graph,Math.max(this.width,Dt)),this.arrange(),this.fit(),this.dress()}relit(){this.layout&&(this.lit=An(this.store,this.graph,this.layout))}selected(){if(!this.layout||!this.shown)return;if(!this.isVisible){this.isStale=!0;return}this.before&&(this.shown=this.before,this.before=null,this.arrange(),this.dress()),this.relit(),!this.lit.boxes.size&&this.lit.hidden!==void 0&&(this.before={open:new Set(this.shown.open),unfolded:new Set(this.shown.unfolded)},ts(this.graph,this.shown,this.lit.hidden),this.arrange(),this.dress());let t=[...this.lit.boxes].sort((s,i)=>s.y-i.y);t.length&&!t.some(s=>this.isInView(s))&&this.bring(t[0]),this.paint()}isInView(t){let s=this.box.scrollTop/this.scale,i=s+this.box.clientHeight/this.scale;return t.y>=s+Y-8&&Math.min(t.y+t.h,t.y+120)<=i}bring(t){let{box:s,scale:i}=this;this.isInView(t)||(s.scrollTop=Math.max(0,(t.y-Y-24)*i)),t.x*i<s.scrollLeft?s.scrollLeft=(t.x-20)*i:(t.x+t.w)*i>s.scrollLeft+s.clientWidth&&(s.scrollLeft=(t.x+t.w+12)*i-s.clientWidth)}goTo(t){if(!this.shown)return;let s=this.graph.box.row[t],i=this.graph.box.phase[t];this.before=null,ts(this.graph,this.shown,t),this.arrange(),this.dress();let n=this.layout?.at.get(s*4+i);n&&(this.focus={box:n,line:-1},this.tree.choose(`b${s*4+i}`),this.bring(n),this.paint())}hoverOn(t){t!==this.hover&&(this.hover=t,this.paint())}choose(t){t.isUnfolded?this.unfold(t.fold):this.toggle(t.row)}pick(t,s){let i=t.lines[s],{store:n,graph:o}=this;if(i.type==="difference"){let[c]=i.of.members;return this.shown?.unfolded.add(o.row.fold[c]),this.toggle(c,!0)}if(i.type==="more")return this.enter(t);let r=[...new Set(i.of.collectives.map(c=>o.collective.row[c]))].filter(c=>c>=0),a=n.state.selection,l=a?.type==="collective"?r.indexOf(a.row):-1;r.length&&n.select({type:"collective",row:r[(l+1)%r.length]})}enter(t){let{cell:s}=t;if(s.boxes.length>1&&this.graph.children[s.row].length&&!this.shown?.open.has(s.row))return this.toggle(s.row,!0);let i=this.view.parentElement;i&&s.boxes.length&&Ue(this.store,s.boxes[0],i)}zoom(t,s=this.box.clientWidth/2,i=Y){let n=Math.max(bc,Math.min(vc,this.scale*t)),{box:o}=this,[r,a]=[(o.scrollLeft+s)*(n/this.scale)-s,(o.scrollTop+i)*(n/this.scale)-i];this.scale=n,this.size(),o.scrollLeft=r,o.scrollTop=a}fit(){this.layout&&(this.scale=Math.max(Nn,Math.min(1,this.box.clientWidth/this.layout.width)),this.size())}moved(t){this.box.classList.toggle("focused",t!==null),this.focus=t&&{item:t.item,box:t.box,line:t.line};let s=this.focusPlace();s&&!this.isInView(s)&&this.bring(s),this.paint()}focusPlace(){let{focus:t,layout:s}=this;if(!t||!s)return null;let i=t.box?.cell,n=i&&s.boxes.find(a=>a.cell.row===i.row&&a.cell.phase===i.phase);if(n)return t.line<0?n:yc(n,n.lines[t.line]);let o=s.bands.find(a=>a.item.row===t.item?.row&&a.item.fold===t.item.fold);if(o)return{x:o.x+3,y:o.y+3,w:o.w-6,h:(this.layout?.measures.band??0)-6};let r=s.labels.find(a=>a.item.row===t.item?.row);return r?{x:r.x-4,y:r.y+2,w:r.w+2,h:Math.min(r.h,36)}:null}act(t){t.box&&t.line>=0?this.pick(t.box,t.line):t.box?this.enter(t.box):this.choose(t.item)}openNode(t,s){if(!t.box)return t.item.isUnfolded?this.unfold(t.item.fold):this.toggle(t.item.row,s);let i=t.box.cell.row*4+t.box.cell.phase;s?this.openBoxes.add(i):this.openBoxes.delete(i)}key(t){let s=this.focus?.item?.fold??-1,n={"+":()=>this.zoom(1.2),"=":()=>this.zoom(1.2),"-":()=>this.zoom(1/1.2),0:()=>this.fit(),x:()=>s>=0&&this.unfold(s),PageDown:()=>{this.box.scrollTop+=this.box.clientHeight*.8},PageUp:()=>{this.box.scrollTop-=this.box.clientHeight*.8}}[t.key];n&&(t.preventDefault(),t.stopPropagation(),n(),this.tree.update())}};var kc=[["?","this help"],["/","find: words, or /a regular expression/"],["\u2191 \u2193","the row before, the next row"],["Enter","the next that was found; opens a row or a box"],["Esc","closes what is open, then clears"],["g t m","graph, linked text, traffic"],["a s","memory, seconds"],["n x","notes; as is, or with the change"],["w","texts over the whole width"],["c","copy as text"]],$c=[["collective","A step in which devices send each other data."],["partial sum","A value that must still be added to those of other devices."],["all-reduce","Adds one array from every device; each gets the sum."],["all-gather","Joins the pieces of all devices; each gets the whole array."],["reduce-scatter","Adds one array from every device; each gets a piece of the sum."],["all-to-all","Cuts an array the other way: from rows to columns, say."],["sends","Bytes that one device sends in one call, modelled as a ring over the counted arrays."],["kernel","A piece of work that XLA runs as one."]];function Dn(e){let s=p("button.button",{onclick:()=>{r.show(!1),r.button.focus({preventScroll:!0})}},"Close"),i=(a,l,c)=>p("section",p("h3",a),p("dl",l.map(([h,d])=>[p("dt",p(c,{},h)),p("dd",d)]))),n=p("div.help",{role:"dialog","aria-label":"Keys and words"},p("div.helphead",p("h2","Keys and words"),s),i("Keys",kc,"kbd"),i("Words",$c,"b"),p("p","A mesh axis has one colour. Blocks are pieces of an array, numbers in them devices; outlines are copies.")),r=st(e,{class:"helpbutton",title:"Keys and words (?)","aria-label":"Keys and words"},"?",n,()=>{r.button.closest(".frame")?.append(n),requestAnimationFrame(()=>s.focus({preventScroll:!0}))});return r.button}function Fn(e){let{question:t,axes:s}=e.first;if(!t)return null;let i=t.titles.map((o,r)=>p("th",{scope:"col",role:"columnheader",class:t.right[r]?"right":void 0},o)),n=t.rows.map(o=>p("tr",{role:"row"},o.map((r,a)=>a?p("td",{role:"cell",class:t.right[a]?"right":void 0},T(r,s)):p("th",{scope:"row",role:"rowheader"},T(r,s)))));return p("section.question",{"aria-label":"What if"},t.lines.map(o=>p("p",T(o,s))),p("table",{role:"table"},p("thead",{role:"rowgroup"},p("tr",{role:"row"},i)),p("tbody",{role:"rowgroup"},n)))}function Hn(e){let{first:t}=e,i=Q("Copy as text",()=>e.data?.header.text,{class:"button copytext",title:"Copy as text (c)"}),n=p("button.button.widen",{title:"Texts over the whole width (w)",onclick:()=>e.set({wide:!e.state.wide})},"Widen");e.listen(r=>{r.has("wide")&&(n.textContent=e.state.wide?"Narrow":"Widen")});let o=p("h1.what",T(t.title,t.axes));return o.title=o.textContent??"",p("header.top",p("div.title",o,p("div.buttons",jc(e),i,n,Dn(e))),Fn(e),p("p.answer",T(t.answer,t.axes),t.measured?` ${t.measured[0].toUpperCase()}${t.measured.slice(1)}.`:null),Mc(e),Ns(e))}function jc(e){let{again:t=[],axes:s,notes:i,unasked:n}=e.first,o=[...t,...n.length?[n]:[]].map(f=>p("p.note",T(f,s))),r=i.map((f,u)=>Sc(e,f,u)),a=o.length+r.length;if(!a)return null;let c=t.length||i.some(f=>f.warns)?p("span.mark",{"aria-hidden":"true"},"\u25B2 "):null,h=p("div.menu.notes",{role:"group","aria-label":"Notes"},o,r),{button:d}=st(e,{class:"notesbutton",title:"What else is known (n)"},[c,j(a,"note")],h);return p("span.pop",d,h)}function Mc(e){let t=p("span"),i=p("button.button",{onclick:()=>e.set({stale:""})},"Dismiss"),n=p("p.stale",{role:"status"},t,i);return n.hidden=!0,e.listen(o=>{if(!o.has("stale"))return;n.hidden=!e.state.stale;let r=e.state.stale.slice(0,200);t.textContent=r&&`This link names ${r}, which this program does not have. It may be of another compile. `}),n}function Sc(e,t,s){let i=[t.warns?p("span.mark",{"aria-hidden":"true"},"\u25B2 "):null,p("bdi",t.words)];if(!t.list)return p("p.note",i);let n=()=>e.set(e.state.note===s?{note:null}:{...W,list:t.list,note:s}),o=p("button.note",{"aria-pressed":"false",title:`Show only these: ${t.words}`,onclick:n},i);return e.listen(r=>r.has("note")&&o.setAttribute("aria-pressed",String(e.state.note===s))),o}var Un=[["tsv","TSV"],["markdown","Markdown"],["csv","CSV"]],Ac={collectives:[["collective",e=>e.kind],["axes",(e,t)=>t[e.axes]?.words],["number",e=>e.number],["sent_bytes",e=>e.sent_bytes],["time_us",e=>e.time_us],["phase",e=>e.phase],["cause",e=>e.cause],["name",e=>e.name],["source",e=>e.place]],arrays:[["role",e=>e.role],["name",e=>e.name],["number",e=>e.number],["array",e=>e.array],["spec",e=>e.spec],["local",e=>e.local],["copies",e=>e.copies],["bytes",e=>e.bytes],["source",e=>e.place]],kernels:[["kernel",e=>e.what],["kind",e=>e.target||e.kind],["number",e=>e.number],["bytes",e=>e.bytes],["time_us",e=>e.time_us],["source",e=>e.place]]};function Kn(e,t,s,i){let n=Ac[t].filter(([,a])=>s.some(l=>a(l,i)!==void 0)),o=[n.map(([a])=>a),...s.map(a=>n.map(([,l])=>Oc(l(a,i))))];if(e==="markdown"){let[a,...l]=o.map(c=>`| ${c.map(Cc).join(" | ")} |`);return`${[a,`|${" --- |".repeat(n.length)}`,...l].join(`
`)}
`}let r=e==="csv"?Tc:a=>a.replace(/[\t\r\n]+/g," ");return`${o.map(a=>a.map(r).join(e==="csv"?",":"	")).join(`
`)}
`}function Oc(e){if(typeof e=="number")return String(e);let t=String(e??"");return/^[=+\-@\t\r]/.test(t)?`'${t}`:t}var Tc=e=>/[",\r\n]/.test(e)?`"${e.replace(/"/g,'""')}"`:e,Cc=e=>e.replace(/[\r\n]+/g," ").replace(/[\\`*_{}[\]<>|#&~]/g,"\\$&");var Xn=["collectives","arrays","kernels"],is=300,Gn=["list","data","axes","kind","role"],Ec=[...Gn,"text","cause","note","advice","isChanged","sort","reversed"];function Vn(e){let{first:t}=e,i=[["collectives","Collectives","Steps in which devices send each other data"],["arrays","Arrays","Arguments, results and, where XLA was asked, the values between them"],["kernels","Kernels","Pieces of work that XLA runs one after another on each device"]].map(([m,x,g],v)=>[m,[p("span.tabname",x),p("span.count",t.counts[v]===null?"":` ${b(t.counts[v])}`)],g]),n=I("What to list",i,()=>e.state.list,m=>e.set({list:m})),o=p("input",{type:"search",class:"filter",placeholder:"Find (/)",title:"Every word of a name, scope, axis, kind, file:line, function or source text; or /a regular expression/","aria-label":"Find in the list",oninput:()=>e.set({text:o.value}),onkeydown:m=>{let x={ArrowDown:1,ArrowUp:-1,Enter:m.shiftKey?-1:1}[m.key];!x||m.isComposing||(m.preventDefault(),e.walk(x))}}),r=p("div.chips"),a=new os(e),l=p("div",{"aria-label":"Rows"}),c=p("div"),h=p("div.rows",{tabindex:-1,onkeydown:m=>gt(h.querySelectorAll(".row"),m,x=>{m.key==="Enter"&&e.isNarrow()&&e.set({pane:"details"}),e.select({type:e.state.list.slice(0,-1),row:Number(x.dataset.row)})})},l,c),d=is,f=[];e.walk=m=>{let x=e.listed,g=`${x?.type}s`===e.state.list?f.findIndex(([,S])=>S===x?.row):-1,v=g<0?0:(g+m+f.length)%f.length;f.length&&e.select({type:e.state.list.slice(0,-1),row:f[v][1]})};let u=()=>{let m=e.rows(e.state.list);f=dt(e),a.update(m,f);let x=e.listed;x&&`${x.type}s`===e.state.list&&(d=Math.max(d,f.findIndex(([,$])=>$===x.row)+1)),l.setAttribute("role",f.length?"listbox":"group"),c.replaceChildren();let v=re(e.state,e.first)==="time"?m.reduce(($,M)=>Math.max($,M.time_us??0),0):0;l.replaceChildren(...f.slice(0,d).map(([$,M],_)=>_c(e,$,M,_===0&&!x,v))),f.length>d&&c.append(p("button.more",{onclick:()=>{d+=is*4,u()}},`${b(f.length-d)} more`));let S=e.data?.header.more[e.state.list];S&&!e.state.text&&c.append(p("p.nothing",S)),f.length||c.append(Lc(e,o)),qn(e,h)},w=m=>{m.has("list")&&(d=is),["list","data"].some(x=>m.has(x))&&n.update(),o.value!==e.state.text&&(o.value=e.state.text),Gn.some(x=>m.has(x))&&Bc(e,r),Ec.some(x=>m.has(x))?u():(m.has("selection")||m.has("pane")||m.has("wide"))&&(e.listed?.row&&!Nc(e,h)?u():qn(e,h))};return e.listen(w),w(new Set(["data"])),p("section.list",{"aria-label":"List"},n.bar,p("div.filters",p("div.tools",o,a.open,a.sort,a.order),a.facets(r),a.status),h)}var os=class{constructor(t){this.store=t,this.list="",this.sort=ct("Sort by",[],"",n=>t.set({sort:n})),this.order=p("button.button.order",{onclick:()=>t.set({reversed:!t.state.reversed})}),this.cause=ct("Only this cause",[],"",n=>t.set({cause:n||null})),this.count=p("span.shown",{role:"status"});let s=p("button.button",{onclick:()=>t.set(W)},"Clear");this.status=p("p.dim.status",this.count,s),this.box=p("div.facets",{role:"group","aria-label":"Filters"});let i="Filter by axis, kind and cause";this.open=st(t,{class:"facet",title:i},"Filters \u25BE",this.box).button}facets(t){return this.box.append(t,this.cause,this.copies()),this.box}copies(){let{store:t}=this,s=n=>{let o=dt(t).map(([r])=>r);return Kn(n,t.state.list,o,t.data?.header.axis_sets??[])},i=Un.map(([n,o])=>Q(o,()=>s(n)));return p("div.chips",{role:"group","aria-label":"Copy the rows as"},"Copy the rows as",i)}update(t,s){let{state:i,data:n}=this.store,o=`${i.list} ${!!n}`;o!==this.list&&this.options(t),this.list=o,this.sort.value=re(i,this.store.first),this.cause.value=i.cause??"",this.order.textContent=i.reversed?"\u2191":"\u2193",this.order.setAttribute("aria-pressed",String(i.reversed)),this.order.setAttribute("aria-label","Reverse the order"),this.order.title="Reverse the order";let r=s.length<t.length,a=this.store.first.counts[Xn.indexOf(i.list)]??rs(t);this.count.textContent=r?`${b(rs(s.map(([l])=>l)))} of ${b(a)}`:"",this.status.hidden=!r,this.open.setAttribute("aria-pressed",String([i.axes,i.kind,i.role,i.cause??null].some(l=>l!==null)))}options(t){Te(this.sort,ui(this.store.state.list,t).map(([n,o])=>[n,`by ${o}`]));let s=new Map;for(let n of t)for(let o of n.causes??[])s.set(o,(s.get(o)??0)+n.number);let i=[...s].sort((n,o)=>o[1]-n[1]);Te(this.cause,[["","any cause"],...i.map(([n,o])=>[n,`${n} (${b(o)})`])]),this.cause.hidden=i.length<2}};function Lc(e,t){let{state:s}=e;if(xt(s)){let r=()=>{t.value="",e.set(W)};return p("p.nothing","Nothing fits. ",zc(e),p("button.button",{onclick:r},"Clear"))}let i={collectives:"hlo",kernels:"hlo",arrays:"inputs"}[s.list]??"",n=e.data?.header.missing[i],o={collectives:"No collectives: the devices do not communicate.",arrays:"No arrays.",kernels:"No fused kernels."}[s.list];return p("p.nothing",n??(e.data?o:""))}function zc(e){let{text:t}=e.state;return Xn.flatMap(s=>{let i=t?rs(dt(e,{...e.state,...W,text:t,list:s}).map(([o])=>o)):0,n=()=>e.set({...W,text:t,list:s});return i?[p("button.button",{onclick:n},j(i,s.slice(0,-1)))," "]:[]})}function rs(e){return e.reduce((t,s)=>t+s.number,0)}function Bc(e,t){let{first:s,state:i}=e,n=e.rows(i.list),o=(a,l,c,h,d)=>p("button.chip",{title:h,"aria-label":d,"aria-pressed":String(l),onclick:c},a),r=[];if(i.list==="collectives"){for(let[a,l]of ns(n,"axes")){let c=s.axis_sets[a]??e.data?.header.axis_sets[a],h=p("span",{class:`square ${A(c.axes,s.axes)}`});r.push(o([h,`${c.words} `,p("span.count",b(l))],i.axes===a,()=>e.set({axes:i.axes===a?null:a}),`Only over ${c.words}`,`${c.words}, ${b(l)}`))}for(let[a,l]of ns(n,"kind"))r.push(o([K(a)," ",p("span.count",b(l))],i.kind===a,()=>e.set({kind:i.kind===a?null:a}),`Only ${a}`,`${a}, ${b(l)}`))}if(i.list==="arrays")for(let[a,l]of ns(n,"role"))r.push(o([`${a}s `,p("span.count",b(l))],i.role===a,()=>e.set({role:i.role===a?null:a}),`Only ${a}s`,`${a}s, ${b(l)}`));t.replaceChildren(...r.length>1?r:[])}function ns(e,t){let s=new Map;for(let i of e)s.set(i[t],(s.get(i[t])??0)+i.number);return[...s].sort((i,n)=>n[1]-i[1])}function _c(e,t,s,i,n){let o=e.state.list.slice(0,-1),r={collective:Wc,array:Pc,kernel:Rc}[o](e,t,n);return p("div",{class:`row ${r.color}${e.goes(t)?" goes":""}`,role:"option","data-row":s,"aria-selected":"false",tabindex:i?0:-1,title:`${r.full??r.name}${e.goes(t)?`
Gone with the change`:""}`,onclick:()=>{let a=e.state.pane==="list"&&e.isNarrow();e.select({type:o,row:s}),a&&e.set({pane:"details"})}},K(r.sign),p("span.half",p("span.name",p("bdi",r.name)),p("span.size",r.size)),p("span.half",p("span.sub",r.sub),r.pictures.length?p("span.shapes",r.pictures):null,t.number>1?p("span.times",`\xD7 ${b(t.number)}`):null),r.share===null?null:p("span.bar",{style:{"--share":String(r.share)}}))}function Yn(e,t,s,i){return t?e.time?{size:e.time,beside:`measured, ${s}`,share:e.time_us/t}:{size:"unknown",beside:s,share:null}:{size:s,beside:e.time&&`${e.time} measured`,share:i}}function Wc(e,t,s){let i=e.first.axis_sets[t.axes]??e.data?.header.axis_sets[t.axes],{beside:n,size:o,share:r}=Yn(t,s,t.sent,t.share),a=[t.kind," ",i?zt(i.words,i.axes,null,e.first.axes):""],l=[n,a,t.place].filter(Boolean).flatMap((h,d)=>d?[" \xB7 ",h]:[h]),c=t.picture?[t.picture.before,t.picture.after]:[];return{sign:t.kind,name:t.name,full:`${t.what}
${t.kind}, ${t.phase||"phase unknown"}, ${t.cause}, ${t.place}`,size:o,sub:l,share:r,pictures:c.flatMap((h,d)=>[d?"\u2192":null,Wt(Jt(h),e.first.axes)]),color:A(i?.axes??null,e.first.axes)}}function Pc(e,t){let s=e.data?.header.shardings[t.sharding],i=[...new Set((s?.spec??[]).flat())],n=e.data&&V(e.data,t.sharding,t.shape),o=[t.array,t.spec,t.place].filter(Boolean).join(" \xB7 ");return{sign:"array",name:t.name,full:`${t.name}
${o}`,size:t.all,sub:o,share:null,pictures:n?[Wt(n,e.first.axes)]:[],color:A(i,e.first.axes)}}function Rc(e,t,s){let i=t.contains.slice(0,3).map(([l,c])=>c>1?`${l} \xD7${c}`:l).join(", "),{beside:n,size:o,share:r}=Yn(t,s,t.traffic,null),a=[n,t.target||t.kind,i,t.place].filter(Boolean).join(" \xB7 ");return{sign:"kernel",name:t.what,full:`${t.what}
${a}`,size:o,sub:a,share:r,pictures:[],color:"ax-none"}}function qn(e,t){let{list:s}=e.state,i=e.listed,o=i!==null&&`${i.type}s`===s?t.querySelector(`.row[data-row="${i.row}"]`):null;ae(t,o),o&&requestAnimationFrame(()=>bt(t,o))}function Nc(e,t){let{list:s}=e.state,i=e.listed;return`${i?.type}s`!==s||t.querySelector(`.row[data-row="${i?.row}"]`)!==null}function it(e,t,s){let i=globalThis.devicePixelRatio||1;e.width=t*i,e.height=s*i,Object.assign(e.style,{width:`${t}px`,height:`${s}px`});let n=e.getContext("2d");return n?.scale(i,i),n}function nt(e){let t=getComputedStyle(e);return s=>t.getPropertyValue(`--${s}`).trim()||"#888"}function Ft(e,t,s){if(e.measureText(t).width<=s)return t;let i=t.length-1;for(;i>1&&e.measureText(`${t.slice(0,i)}\u2026`).width>s;)i--;return`${t.slice(0,i)}\u2026`}function ot(e,...t){e.beginPath();for(let[s,i]of t)e.lineTo(s,i);e.stroke()}function Ht(e,t,s){e.setLineDash(t),s(),e.setLineDash([])}var Ic=3;function ke(e){let{graph:t}=e.header,s=o=>e.column(`graph.${o}`),i=s("run.phase"),n=Dc(s);return{size:s("kernel.box").length,phases:[...new Set(i)].sort((o,r)=>o-r),starts:s("run.start"),rows:s("run.row"),runPhases:i,tones:new Map([...new Set(s("run.row"))].map((o,r)=>[o,r%2])),events:n,levels:Fc(n,t.lanes.length),lanes:t.lanes,firstMatmul:t.first_matmul,isScheduled:t.is_scheduled}}function Dc(e){let[t,s,i,n,o,r]=["collective","lane","start","end","first_use","is_async"].map(l=>e(`event.${l}`)),a=e("collective.row");return Array.from(t,(l,c)=>({collective:l,row:a[l]??-1,lane:s[c],start:i[c],end:Math.max(n[c],i[c]),firstUse:o[c],isAsync:!!r[c],level:0}))}function Fc(e,t){let s=Array.from({length:t},()=>[]);for(let i of e){let n=s[i.lane],o=n.findIndex(r=>r<=i.start);o>=0?i.level=o:i.level=n.length<Ic?n.length:n.indexOf(Math.min(...n)),n[i.level]=Math.max(i.end,n[i.level]??0)}return s.map(i=>Math.max(1,i.length))}function rt(e,t){let s=0,i=e.starts.length;for(;s<i;){let n=s+i>>1;e.starts[n]<=t?s=n+1:i=n}return s-1}function $e(e,t){return t+1<e.starts.length?e.starts[t+1]:e.size}function Jn(e,t,s,i,n){let o=new Int32Array(n+1);for(let a of e.events){if(a.lane!==t||a.firstUse<=a.end)continue;let[l,c]=[a.end,a.firstUse].map(h=>Math.max(0,Math.min(n,Math.round((h-s)/i))));o[l]++,o[c]--}let r=0;return o.subarray(0,n).map(a=>r+=a)}function as(e,t,s,i){let n=-1,o=i;return e.events.forEach((r,a)=>{if(r.lane!==t)return;let l=Math.max(0,r.start-s,s-r.end);(l<o||l===o&&n<0)&&([n,o]=[a,l])}),n}function ls(e,t,s){let i=e.events[t],n=s.header.collectives[i.row],o=s.column("graph.collective.bytes")[i.collective]??-1,r=s.header.axis_sets[e.lanes[i.lane]]?.words??"";return[`${n?.kind??"collective"} over ${r}, ${o<0?"size unknown":`${y(o)} on a device`}`,n?.what??"",Hc(i),Uc(e,i,s)].filter(Boolean)}function Hc(e){if(!e.isAsync)return`at place ${b(e.start)}, not asynchronous`;let t=e.end-e.start,s=t?j(t,"kernel"):"no kernel";return`from place ${b(e.start)} to ${b(e.end)}: ${s} in between`}function Uc(e,t,s){if(t.firstUse<0)return"no kernel takes its result";let i=t.firstUse-t.end,n=s.strings("graph.kernel.names").at(t.firstUse),o=e.firstMatmul>=0&&t.end<=e.firstMatmul&&t.firstUse>e.firstMatmul?", after the first matmul":"";return`first used ${i>0?`${j(i,"kernel")} later, `:""}by ${n}${o}`}var hs=14,P=14,ps=9,je=14,Kc="10px system-ui, sans-serif";function Mt(e){return hs+P*(e.phases.length+e.lanes.length)+(e.lanes.length?4:0)+je}function B(e,t){return hs+P*t+(t>=e.phases.length?4:0)}function Z(e,t){return e.left+(t-e.from)/e.span*e.width}function Zn(e,t){let{scale:s,strip:i}=t;e.font=Kc,e.textBaseline="middle",qc(e,t),e.save(),e.beginPath(),e.rect(s.left,0,s.width,Mt(i)),e.clip(),Xc(e,t),Gc(e,t),i.lanes.forEach((n,o)=>Yc(e,t,o)),i.lanes.forEach((n,o)=>Jc(e,t,o)),Zc(e,t),th(e,t),eh(e,t),e.restore()}function qc(e,{strip:t,scale:s,color:i,laneColors:n,laneNames:o,phaseNames:r}){e.textAlign="right",[...r,...o].forEach((a,l)=>{let c=l>=r.length;e.fillStyle=c?n[l-r.length]:r.length>1?i(`ph-${t.phases[l]}`):i("dim"),e.fillText(Ft(e,a,s.left-8),s.left-6,B(t,l)+P/2)})}function Xc(e,{strip:t,scale:s,color:i}){e.fillStyle=i("rule");for(let n=0;n<=t.phases.length+t.lanes.length;n++){let o=n===t.phases.length+t.lanes.length?B(t,n-1)+P:B(t,n);e.fillRect(s.left,o-.5,s.width,.5)}}function Gc(e,t){let{strip:s,scale:i,color:n}=t,o=[.62,.4],r=s.phases.map(()=>-1);e.fillStyle=n("line");let a=Math.min(s.starts.length-1,rt(s,i.from+i.span));for(let l=Math.max(0,rt(s,i.from));l<=a;l++){let c=s.phases.indexOf(s.runPhases[l]),h=Z(i,s.starts[l]),d=Z(i,$e(s,l));if(d<=r[c])continue;let f=Math.max(h,r[c]),u=Math.max(.7,d-f);r[c]=f+u,e.globalAlpha=o[s.tones.get(s.rows[l])??0],e.fillRect(f,B(s,c)+1,Math.max(.7,u-(u>4?.7:0)),P-2),d-h>24&&Vc(e,t,l,h,d,c)}e.globalAlpha=1}function Vc(e,t,s,i,n,o){let r=Math.max(i,t.scale.left)+3,a=Math.min(n,t.scale.left+t.scale.width)-r-3,l=t.label(t.strip.rows[s]);a<20||e.measureText(l).width>a||(e.globalAlpha=1,e.fillStyle=t.color("text"),e.textAlign="left",e.fillText(l,r,B(t.strip,o)+P/2+.5),e.fillStyle=t.color("line"))}function Yc(e,{strip:t,scale:s,laneColors:i},n){let r=Math.ceil(s.width/2),a=Jn(t,n,s.from,s.span*2/s.width,r),l=a.reduce((h,d)=>Math.max(h,d),0),c=B(t,t.phases.length+n)+ps+2;if(l){e.fillStyle=i[n];for(let h=0;h<r;h++){let d=h+1;for(;d<r&&a[d]===a[h];)d++;a[h]&&(e.globalAlpha=.2+.6*(a[h]/Math.max(4,l)),e.fillRect(s.left+h*2,c,(d-h)*2,2)),h=d-1}e.globalAlpha=1}}function Qn({strip:e,scale:t},s){let i=e.events[s],n=ps/e.levels[i.lane],o=Z(t,i.start),r=B(e,e.phases.length+i.lane)+1+i.level*n,a=Z(t,i.end)-o;return[o,r,Math.max(1.6,a-(a>4?.7:0)),Math.max(1.5,n-(e.levels[i.lane]>1?.8:0))]}function Jc(e,t,s){let{strip:i,scale:n,laneColors:o}=t;e.beginPath(),i.events.forEach((r,a)=>{r.lane!==s||r.start>n.from+n.span||r.end<n.from-n.span/100||e.rect(...Qn(t,a))}),e.fillStyle=o[s],e.globalAlpha=.85,e.fill(),e.globalAlpha=1}function Zc(e,{strip:t,scale:s,color:i}){let n=Mt(t)-je/2+1,o=Qc(s.span*70/s.width);e.fillStyle=i("dim");for(let r=Math.ceil(s.from/o)*o;r<=s.from+s.span;r+=o){let a=Z(s,r),l=b(r),c=e.measureText(l).width/2,h=Math.max(s.left+c,Math.min(s.left+s.width-c,a));e.textAlign="center",e.fillRect(a-.25,n-je/2-1,.5,3),Math.abs(h-a)<12&&e.fillText(l,h,n+1)}}function Qc(e){let t=10**Math.floor(Math.log10(Math.max(1,e)));return[1,2,5,10].map(s=>s*t).find(s=>s>=e)??10*t}function th(e,{strip:t,scale:s,color:i}){if(t.firstMatmul<0)return;let n=Z(s,t.firstMatmul),o="first matmul",r=e.measureText(o).width;if(n<s.left-1||n>s.left+s.width)return;e.strokeStyle=e.fillStyle=i("text"),e.lineWidth=1,Ht(e,[3,2],()=>ot(e,[n,4],[n,Mt(t)-je])),e.textAlign="left";let a=n+4+r<s.left+s.width;e.fillText(o,a?n+4:n-4-r,hs/2)}function eh(e,t){let{strip:s,scale:i,color:n}=t;e.strokeStyle=e.fillStyle=n("select"),e.lineWidth=1.5;for(let o of t.kernels){let r=s.phases.indexOf(s.runPhases[rt(s,o)]),a=Z(i,o);e.fillRect(a-.5,B(s,r)-1,Math.max(2,Z(i,o+1)-a),P+1)}s.events.forEach((o,r)=>t.lit(r)&&cs(e,t,r,r===t.current)),t.current>=0&&cs(e,t,t.current,!0),t.hover>=0&&t.hover!==t.current&&cs(e,t,t.hover,!0)}function cs(e,t,s,i){let{strip:n,scale:o}=t,r=n.events[s],[a,l,c,h]=Qn(t,s);if(e.strokeRect(a-1,l-1,c+2,h+2),!i||r.firstUse<0)return;let d=Z(o,r.firstUse+.5),f=n.phases.indexOf(n.runPhases[rt(n,r.firstUse)]),u=B(n,n.phases.length+r.lane)+ps+3,w=d<=a+c;w||ot(e,[a+c,u],[d,u]),ot(e,[d,w?l-1:u],[d,B(n,f)+P]),e.beginPath(),e.moveTo(d,B(n,f)+P-6),e.lineTo(d-3.5,B(n,f)+P),e.lineTo(d+3.5,B(n,f)+P),e.fill()}var ds=12,sh=5,ih=520,nh=0;function to(e){let t=p("section.schedule",{"aria-label":"Schedule"}),s=()=>{let{data:i}=e,n=i&&!i.header.graph?.missing?ke(i):null;if(!n?.size)return t.replaceChildren(p("p.nothing",i?"No schedule: no kernel is known to run.":""));t.replaceChildren(...new Ut(e,n).parts)};return e.listen(i=>i.has("data")&&s()),e.data&&s(),t}var Ut=class{constructor(t,s){this.store=t,this.strip=s,this.data=t.data,this.view={from:0,span:Math.max(ds,s.size)},this.current=this.hover=-1,this.width=0,this.painted=()=>{},this.draw=R(()=>this.paint());let{graph:i,axis_sets:n}=this.data.header;this.laneNames=s.lanes.map(o=>n[o]?.words??"unknown"),this.laneClasses=s.lanes.map(o=>A(n[o]?.axes??null,t.first.axes)),this.phaseNames=s.phases.map(o=>i.is_differentiated?i.phases[o]:"kernels"),this.labels=this.data.strings("graph.row.labels"),this.labelOf=new Map,this.lit=new Set,this.kernels=[],this.canvas=p("canvas",{"aria-hidden":"true"}),this.option=p("div.offscreen",{role:"option",id:`pjit-strip-${++nh}`,"aria-selected":"true"}),this.box=this.makeBox(),this.tip=q(this.box),this.parts=[this.head(),this.box],t.listen(o=>this.changed(o)),new ResizeObserver(()=>this.resize()).observe(this.box),this.follow()}makeBox(){return p("div.strip",{role:"listbox",tabindex:0,"aria-label":"Collectives in the order of the schedule: left and right walk, up and down change the lane, plus and minus zoom, 0 shows all","aria-activedescendant":this.option.id,style:{height:`${Mt(this.strip)}px`},onkeydown:t=>this.key(t),onwheel:t=>this.wheel(t),onpointerdown:t=>this.grab(t),onpointermove:t=>this.point(t),onpointerleave:()=>this.leave()},this.canvas,this.option)}head(){let{size:t,isScheduled:s}=this.strip,n=`${s?"XLA's schedule":"order of the program's bytes, XLA fixed none"}; places count kernels, not time; ${b(t)} kernels`,o=(r,a,l)=>p("button.button",{title:a,"aria-label":a,onclick:l},r);return p("div.striphead",p("h3","Schedule"),p("span.dim.stripwords",{title:n},n),p("span.stripzoom",o("\u2212","Zoom out (-)",()=>this.zoom(2)),o("+","Zoom in (+)",()=>this.zoom(.5)),o("All","Show all (0)",()=>this.show(0,t))))}resize(){this.width=this.box.clientWidth,this.draw()}changed(t){t.has("selection")&&this.follow(),["theme","pane","centre","wide"].some(s=>t.has(s))&&this.draw()}follow(){let{selection:t}=this.store.state,{strip:s}=this,i=a=>t?.type==="collective"&&a.row===t.row;(this.current<0||!i(s.events[this.current]))&&(this.current=s.events.findIndex(i)),this.lit=new Set(s.events.flatMap((a,l)=>i(a)?[l]:[])),this.kernels=t?.type==="kernel"?this.kernelsOf(2*t.row+1):t?.type==="buffer"?this.store.selected?.kernels??[]:[];let n=[...[...this.lit].map(a=>s.events[a].start),...this.kernels],{from:o,span:r}=this.view;n.length&&!n.some(a=>a>=o&&a<=o+r)&&this.show(n[0]-r/2,r),this.tell(),this.draw()}kernelsOf(t){let s=[];return this.data.column("graph.kernel.entity").forEach((i,n)=>i===t&&s.push(n)),s}tell(){let{strip:t,current:s}=this;this.option.textContent=s<0?`${b(t.events.length)} collectives; none selected`:ls(t,s,this.data).join("; "),this.option.setAttribute("aria-setsize",String(t.events.length)),s<0?this.option.removeAttribute("aria-posinset"):this.option.setAttribute("aria-posinset",String(s+1))}scale(){let t=this.width<ih?66:92;return{left:t,width:Math.max(1,this.width-t-10),...this.view,gap:0}}paint(){if(!this.width)return;let t=it(this.canvas,this.width,Mt(this.strip));if(!t)return;let s=nt(this.canvas);Zn(t,{strip:this.strip,scale:this.scale(),color:s,laneColors:this.laneClasses.map(s),laneNames:this.laneNames,phaseNames:this.phaseNames,label:i=>this.label(i),lit:i=>this.lit.has(i),kernels:this.kernels,current:this.current,hover:this.hover}),this.painted()}label(t){let s=this.labelOf.get(t)??this.labels.at(t);return this.labelOf.set(t,s),s}show(t,s){let i=Math.max(ds,this.strip.size),n=Math.max(ds,Math.min(i,s));this.view={from:Math.max(0,Math.min(i-n,t)),span:n},this.draw()}zoom(t,s){let{from:i,span:n}=this.view,o=this.strip.events[this.current],r=o&&o.start>=i&&o.start<=i+n,a=s??(r?o.start:i+n/2);this.show(a-(a-i)*t,n*t)}wheel(t){let s=t.ctrlKey||t.metaKey||t.shiftKey;if(!s&&Math.abs(t.deltaX)<=Math.abs(t.deltaY))return;t.preventDefault();let{width:i}=this.scale();s?this.zoom(1.0018**(t.deltaY||t.deltaX),this.place(t)):this.show(this.view.from+t.deltaX/i*this.view.span,this.view.span)}place(t){let{left:s,width:i,from:n,span:o}=this.scale();return n+(t.clientX-this.box.getBoundingClientRect().left-s)/i*o}grab(t){if(t.button)return;let{from:s,span:i}=this.view,{width:n}=this.scale(),o=!1;this.box.setPointerCapture(t.pointerId);let r=c=>{o||=Math.abs(c.clientX-t.clientX)>3,o&&this.show(s-(c.clientX-t.clientX)/n*i,i)},a=()=>{this.box.removeEventListener("pointermove",r),this.box.removeEventListener("pointerup",l),this.box.removeEventListener("pointercancel",a)},l=c=>{a(),o||this.pick(c)};this.box.addEventListener("pointermove",r),this.box.addEventListener("pointerup",l),this.box.addEventListener("pointercancel",a)}at(t){let{strip:s}=this,i=t.clientY-this.box.getBoundingClientRect().top,n=this.place(t),o=Math.floor(n),r=[...s.phases,...s.lanes].findIndex((h,d)=>i>=B(s,d)&&i<B(s,d)+P),{width:a,span:l}=this.scale();return r>=s.phases.length?{event:as(s,r-s.phases.length,n,sh*l/a),kernel:-1}:{event:-1,kernel:r>=0&&o>=0&&o<s.size&&s.runPhases[rt(s,o)]===s.phases[r]?o:-1}}point(t){let s=this.at(t);this.box.style.cursor=s.event>=0||s.kernel>=0?"pointer":"",s.event!==this.hover&&this.draw(),this.hover=s.event;let i=s.event>=0?ls(this.strip,s.event,this.data):s.kernel>=0?this.kernelLines(s.kernel):[];i.length?this.tip.show(i,t.clientX,t.clientY):this.tip.hide()}leave(){this.hover=-1,this.tip.hide(),this.draw()}kernelLines(t){let{strip:s,data:i}=this,n=rt(s,t),o=this.phaseNames[s.phases.indexOf(s.runPhases[n])],r=$e(s,n)-s.starts[n],a=i.strings("graph.labels").at(i.column("graph.kernel.label")[t]);return[`${this.label(s.rows[n])}, ${o}`,`kernel ${b(t)}: ${i.strings("graph.kernel.names").at(t)} (${a})`,`${b(r)} in a row here, from place ${b(s.starts[n])}`]}pick(t){let s=this.at(t);this.box.focus({preventScroll:!0}),s.event>=0?this.choose(s.event):s.kernel>=0&&this.store.selectKernel(s.kernel)}choose(t){this.current=t;let{row:s,start:i}=this.strip.events[t],{from:n,span:o}=this.view;(i<n||i>n+o)&&this.show(i-o/2,o),s>=0&&this.store.select({type:"collective",row:s}),this.tell(),this.draw()}key(t){if(t.ctrlKey||t.metaKey||t.altKey)return;let{strip:s,current:i}=this,n=s.events.length-1,{from:o,span:r}=this.view,l={ArrowRight:Math.min(n,i+1),ArrowLeft:Math.max(0,i-1),Home:0,End:n,ArrowDown:this.inLane(1),ArrowUp:this.inLane(-1)}[t.key],c={"+":()=>this.zoom(.5),"=":()=>this.zoom(.5),"-":()=>this.zoom(2),0:()=>this.show(0,s.size),PageDown:()=>this.show(o+r*.8,r),PageUp:()=>this.show(o-r*.8,r)};l===void 0&&!c[t.key]||(t.preventDefault(),t.stopPropagation(),l===void 0?c[t.key]():n>=0&&this.choose(l))}inLane(t){let{strip:s,current:i}=this,n=s.events[Math.max(0,i)];for(let o=(n?.lane??0)+t;o>=0&&o<s.lanes.length;o+=t){let r=as(s,o,n.start,1/0);if(r>=0)return r}return Math.max(0,i)}};var Me={high:168,low:120},St=22,oh=4,eo="10px system-ui, sans-serif";function rh(e,t){let s=Math.max(1,Math.round(e.width)),i=new Int32Array(s);for(let n=0;n<s;n++){let[o,r]=[n,n+1].map(l=>e.from+l/s*e.span),a=Math.min(t.length-1,Math.floor(o));for(let l=a+1;l<Math.min(t.length,Math.ceil(r));l++)t[l]>t[a]&&(a=l);i[n]=o>=t.length?-1:a}return i}function ah(e){let t=1;for(;t*6<e;)t*=2;return t}function lh({total:e,limit:t}){let s=0;for(let n of e)s=Math.max(s,n);let i=t&&t.bytes<1.5*s?Math.max(s,t.bytes):s;return Math.max(1,i)}function so(e,t){let{scale:s,color:i}=t,n=lh(t),o=t.height-St-oh,r=h=>St+o*(1-h/n);e.font=eo,e.textBaseline="middle",ch(e,t,n,r);let a=rh(s,t.total),l=h=>s.left+h*s.width/a.length,c=new Float64Array(a.length);for(let h of t.bands){let d=c.map((f,u)=>a[u]<0?f:f+h.bytes[a[u]]);io(e,l,r,c,d),e.fillStyle=i(h.color),e.fill(),c.set(d)}no(e,l,r,c),e.strokeStyle=i("text"),e.globalAlpha=.75,e.lineWidth=1,e.stroke(),e.globalAlpha=1,t.life&&hh(e,t,a,l,r),ph(e,t,r)}function ch(e,{scale:t,color:s},i,n){let o=ah(i);e.textAlign="right";for(let r=0;r<=i;r+=o)e.fillStyle=s("rule"),e.fillRect(t.left,Math.round(n(r))-.5,t.width,1),e.fillStyle=s("dim"),e.fillText(r?Lt(r):"0",t.left-6,n(r))}function io(e,t,s,i,n){e.beginPath();let o=n.length;for(let r=0;r<o;r++){let a=s(n[r]);r&&n[r]===n[r-1]||(r&&e.lineTo(t(r),s(n[r-1])),e.lineTo(t(r),a))}e.lineTo(t(o),s(n[o-1]));for(let r=o-1;r>=0;r--)r<o-1&&i[r]===i[r+1]||(r<o-1&&e.lineTo(t(r+1),s(i[r+1])),e.lineTo(t(r+1),s(i[r])));e.lineTo(t(0),s(i[0])),e.closePath()}function no(e,t,s,i){e.beginPath();for(let n=0;n<i.length;n++)e.lineTo(t(n),s(i[n])),e.lineTo(t(n+1),s(i[n]))}function hh(e,{life:t,color:s},i,n,o){let r=t,a=Float64Array.from(i,l=>l<0?0:r[l]);io(e,n,o,new Float64Array(a.length),a),e.fillStyle=e.strokeStyle=s("bg"),e.globalAlpha=.35,e.fill(),e.globalAlpha=1,no(e,n,o,a),e.lineWidth=4,e.stroke(),e.strokeStyle=s("select"),e.lineWidth=1.8,e.stroke()}function ph(e,t,s){let{height:i,scale:n,color:o,total:r,limit:a,peak:l,at:c,hover:h}=t,d=v=>n.left+(v+.5-n.from)/n.span*n.width,f=v=>v>=n.from&&v<n.from+n.span;if(a&&s(a.bytes)>St/2){e.strokeStyle=e.fillStyle=o("note");let v=[n.left,n.left+n.width].map(S=>[S,s(a.bytes)]);Ht(e,[5,3],()=>ot(e,...v)),e.textAlign="right",e.fillText(a.words,n.left+n.width-2,s(a.bytes)-7)}if(h>=0&&f(h)&&(e.strokeStyle=o("text"),e.lineWidth=1,Ht(e,[3,2],()=>ot(e,[d(h),St-6],[d(h),i]))),f(c)&&(e.strokeStyle=o("select"),e.lineWidth=1.5,ot(e,[d(c),St-4],[d(c),i])),!f(l))return;let u=`peak ${y(r[l])}`,w=e.measureText(u).width,[m,x]=[d(l),Math.max(St-3,s(r[l])-2)];e.fillStyle=o("text"),e.beginPath(),e.moveTo(m,x),e.lineTo(m-4,x-6),e.lineTo(m+4,x-6),e.fill();let g=m+10+w<n.left+n.width;e.textAlign=g?"left":"right",e.font=`600 ${eo}`,e.fillText(u,g?m+8:m-8,x-6)}function fs(e,t){let s=e.reduce((c,h)=>c+h,0),i=[];if(!s)return e.map(()=>({...t,w:0,h:0}));let n=t.w*t.h/s,{x:o,y:r,w:a,h:l}=t;for(let c=0;c<e.length;){let h=Math.max(1e-9,Math.min(a,l)),d=c+1,f=e[c]*n,u=oo(f,e[c]*n,e[c]*n,h);for(;d<e.length;){let x=f+e[d]*n,g=oo(x,e[c]*n,e[d]*n,h);if(g>u)break;[f,u]=[x,g],d++}let w=f/h,m=0;for(;c<d;c++){let x=w?e[c]*n/w:0;i.push(a>=l?{x:o,y:r+m,w,h:x}:{x:o+m,y:r,w:x,h:w}),m+=x}a>=l?[o,a]=[o+w,a-w]:[r,l]=[r+w,l-w]}return i}function oo(e,t,s,i){return Math.max(i*i*t/(e*e),e*e/Math.max(1e-9,i*i*s))}var Kt=60,dh=70,fh={width:116,height:14},us={width:46,height:18};function ro(e,t){let{memory:s,rows:i,limit:n}=t,o=p("div.memrow.memhead",{"aria-hidden":"true"},["","what","kind","spec","each","all",s.hasCurve?"alive":""].map((d,f)=>p("span",{class:uh[f]},d))),r=i.slice(0,n).map(d=>mh(e,t,d)),a=i.slice(n),l=[a.length?p("button.more",{onclick:t.more},`${b(a.length)} more, ${y(a.reduce((d,f)=>d+f.bytes,0))}`):null,t.rest>0?p("p.nothing",`and ${y(t.rest)} in smaller buffers, which have no name here`):null],c=i.slice(0,n).some(({group:d})=>s.rows[d].spec!=="not known");return[p("div",{class:c?"":"nospec"},o,ao(e,"memlist",r)),p("div",l)]}var uh=["swatch","memname","memkind","memspec code","figure memeach","figure","memlife"];function ao(e,t,s){let i=p("div",{class:t,role:s.length?"listbox":"group","aria-label":"Values, most bytes first",onkeydown:n=>gt(i.querySelectorAll("[data-group]"),n,o=>e.select({type:"buffer",row:Number(o.dataset.group)}))},s);return ws(e,i),s.length||i.append(p("p.nothing","Nothing is alive.")),i}function mh(e,{memory:t,at:s},{group:i,count:n,bytes:o}){let r=t.rows[i],a=t.kinds[r.kind],l=r.number===1?"":n===r.number?`\xD7 ${n}`:`\xD7 ${n} of ${r.number}`,c=r.turns;return p("div.memrow",{role:"option","data-group":i,"aria-selected":"false","aria-label":`${r.name}${l&&`, ${l}`}, ${a}, ${y(o)}, spec ${r.spec}${r.place&&`, ${r.place}`}`,tabindex:-1,title:[r.name,a,r.place].filter(Boolean).join(`
`),onclick:()=>e.select({type:"buffer",row:i})},p("span",{class:`swatch mem-${r.kind}`}),p("span.memname",p("bdi.code",r.name),p("span.dim",` ${[l,r.place].filter(Boolean).join(" \xB7 ")}`)),p("span.memkind.dim",c?`${a}, ${b(c)} turns`:a),p("span",{class:r.spec==="not known"?"memspec dim":"memspec code"},r.spec),p("span.figure.memeach.dim",r.number>1?r.each:""),p("span.figure",y(o)),p("span.memlife",t.hasCurve?wh(t,i,s):null))}function wh(e,t,s){let{values:i,kind:n}=e.rows[t],{width:o,height:r}=fh,a=new Map;for(let u of i)for(let[w,m]of e.spans(u))a.set(w,(a.get(w)??0)+1),a.set(m+1,(a.get(m+1)??0)-1);let l=u=>Math.round(10*(u*o)/e.kernels)/10,c=0,h=0,d=[...a].sort((u,w)=>u[0]-w[0]);for(let[,u]of d)h=Math.max(h,c+=u);c=0;let f="";for(let[u,w]of d){let m=x=>Math.round(10*(r-1-x/h*(r-3)))/10;f+=`${f?"L":"M"}${l(u)} ${m(c)}`,c+=w,f+=`L${l(u)} ${m(c)}`}return k("svg",{class:`mem-${n}`,width:o,height:r,"aria-hidden":"true"},k("path.ground",{d:`M0 ${r-.5}H${o}`}),k("path.span",{d:f}),s>=0?k("path.pin",{d:`M${l(s+.5)} 0V${r}`}):null)}function lo(e,t,s){let{memory:i,rows:n}=t,o=new Map;for(let u of n){let w=i.rows[u.group],m=w.scope.split("/")[0],x=t.by==="kind"?i.kinds[w.kind]:m||"no scope",g=o.get(x)??{name:x,rows:[],bytes:0};g.rows.push(u),g.bytes+=u.bytes,o.set(x,g)}let r=[...o.values()].sort((u,w)=>w.bytes-u.bytes),a=n.reduce((u,w)=>u+w.bytes,0)+t.rest,l=fs([...r.map(u=>u.bytes),...t.rest>0?[t.rest]:[]],{x:0,y:0,w:s.width,h:s.height}),c=[],h=[];r.forEach((u,w)=>{let m=l[w],x=m.h>42&&m.w>60;x&&h.push(p("span.maptitle",{style:ms({...m,h:15})},p("b",u.name),` ${y(u.bytes)}`));let g=x?{...m,y:m.y+15,h:m.h-15}:m,v=fs(u.rows.map(S=>S.bytes),g);u.rows.slice(0,dh).forEach((S,$)=>{v[$].w*v[$].h<6||c.push(xh(e,i,S,v[$],a))})});let d=t.rest>0?l[l.length-1]:null,f=ao(e,"memmap",c);return f.style.height=`${s.height}px`,f.append(...h),d&&d.w>3&&f.append(p("span.maprest",{style:ms(d),title:`smaller buffers, ${y(t.rest)}`})),[f]}function ms({x:e,y:t,w:s,h:i}){return{left:`${e}px`,top:`${t}px`,width:`${Math.max(0,s-1)}px`,height:`${Math.max(0,i-1)}px`}}function xh(e,t,{group:s,count:i,bytes:n},o,r){let a=t.rows[s],l=t.kinds[a.kind],c=`${a.name}${i>1?` \xD7 ${i}`:""}`,h=ht(n/r);return p("div",{class:`mapcell mem-${a.kind}`,role:"option","data-group":s,"aria-selected":"false","aria-label":`${c}, ${l}, ${y(n)}, ${h}`,tabindex:-1,title:`${c}
${l}, ${y(n)}, ${h}`,style:ms(o),onclick:()=>e.select({type:"buffer",row:s})},o.w>us.width&&o.h>us.height?[p("bdi",c),o.h>2*us.height?p("span",y(n)):null]:null)}function ws(e,t){let{selection:s}=e.state,i=s?.type==="buffer"?t.querySelector(`[data-group="${s.row}"]`):null;return ae(t,i),i}var co=5,gh=180,bh=620,ho=[["moment","Alive","Values alive at the chosen moment"],["map","As a map","The same values as areas"],["all","Largest, whenever","The largest values of the whole run"]],vh=["help","What could help","Changes that would lower the peak"];function po(e){let t=p("section.mempane",{"aria-label":"Memory",hidden:!0}),s=null,i=()=>{if(e.state.centre==="memory"){if(s)return s.draw();if(e.memoryError||=e.first.no_memory??"",!e.memory&&!e.memoryError)return t.replaceChildren(p("p.nothing",{role:"status"},"Finding what is alive\u2026")),e.openMemory(n=>new se(n,e));if(!e.memory)return t.replaceChildren(p("p.nothing",{role:"status"},e.memoryError));s=new xs(e,t)}};return e.listen(n=>["centre","data","memory"].some(o=>n.has(o))&&i()),t}var xs=class{constructor(t,s){this.store=t,this.memory=t.memory,this.space=0,this.by="kind",this.view="moment",this.at=this.memory.spaces[0].peak,this.hover=-1,this.limit=Kt,this.width=0,this.height=Me.low,this.draw=R(()=>this.paint()),this.canvas=p("canvas",{"aria-hidden":"true"}),this.curve=this.makeCurve(),this.tip=q(this.curve),this.legend=p("div.memlegend"),this.table=p("div.memtable"),this.back=p("button.button",{title:"Back to the peak (p)",onclick:()=>this.pin(this.peak)},"To the peak"),this.count=p("span.dim.memcount"),this.tabs=I("What the table shows",this.memory.header.suggestions.length?[...ho,vh]:ho,()=>this.view,i=>this.setView(i)),this.strip=this.makeStrip(),s.replaceChildren(...this.parts()),this.box=s,t.listen(i=>this.changed(i)),new ResizeObserver(()=>this.resize()).observe(s),this.follow(),this.fill()}get peak(){return this.memory.spaces[this.space].peak}parts(){let{memory:t}=this,{header:s}=t,i=this.store.first.axes,n=[p("h2.offscreen","Memory over the schedule"),p("p.memanswer",T(s.answer,i)),s.fits.length?p("div.memfits",s.fits.map(Mh)):null,s.provenance.map(a=>p("p.dim.small",T(a,i)))],o=p("div.memtop",n),r=p("div.memviews",this.tabs.bar,this.back,this.count);return t.hasCurve?[o,p("div.membar",this.legend,this.choices()),this.curve,...this.strip.parts,r,this.table]:[o,r,this.table]}choices(){let t=(n,o,r,a="")=>Object.assign(p("button.button",{title:a,onclick:r},n),{isOn:o}),s=["kind","scope"].map(n=>t(n,()=>this.by===n,()=>this.setBy(n),`Bands by ${n} (${n[0]})`)),i=this.memory.spaces.map((n,o)=>t(n.name,()=>this.space===o,()=>this.setSpace(o)));return this.buttons=[...s,...i],p("span.memchoices",i.length>1?p("span",{role:"group","aria-label":"Which memory"},i):null,p("span",{role:"group","aria-label":"Bands by"},p("span.dim","by "),s))}makeCurve(){return p("div.memcurve",{role:"slider",tabindex:0,"aria-label":"Memory over the schedule: left and right one kernel, up and down ten, page up and down a hundred, p the peak, k and s bands by kind and by scope, plus and minus zoom, 0 shows all",onkeydown:t=>this.key(t),onwheel:t=>this.strip.wheel(t),onpointermove:t=>this.point(t),onpointerleave:()=>this.leave(),onclick:t=>{let s=this.kernelAt(t);s>=0&&this.pin(s)}},this.canvas)}makeStrip(){let t=this.store.data,s=t.header.graph?.missing?null:ke(t);if(!s||s.size!==this.memory.kernels)return new gs(this);let i=new Ut(this.store,s);return i.painted=this.draw,i}resize(){this.width=this.curve.clientWidth,this.height=this.box.clientHeight>=bh?Me.high:Me.low,this.curve.style.height=`${this.height}px`,this.draw(),this.view==="map"&&this.fill()}changed(t){this.store.state.centre==="memory"&&((t.has("selection")||t.has("centre"))&&this.follow(),["theme","wide","pane","centre"].some(s=>t.has(s))&&this.draw())}follow(){let{memory:t,store:s}=this;this.lit=yh(t,s),this.life=this.lit.length&&t.hasCurve?kh(t,this.lit,this.space):null,ws(s,this.table)?.scrollIntoView({block:"nearest"}),this.draw()}setBy(t){this.by=t,this.fill(),this.draw()}setSpace(t){this.space=t,this.at=this.peak,this.follow(),this.fill()}setView(t){this.view=t,this.limit=Kt,this.tabs.update(),this.fill()}pin(t){this.at=Math.max(0,Math.min(this.memory.kernels-1,t)),this.limit=Kt;let{from:s,span:i}=this.strip.view;(this.at<s||this.at>=s+i)&&this.strip.show(this.at-i/2,i),this.fill(),this.draw()}fill(){let{memory:t,space:s,at:i,view:n}=this,o=n==="all"?t.all(s):t.alive(s,i),r=o.reduce((w,m)=>w+m.bytes,0),a=t.hasCurve?t.total(s)[i]:r,l={memory:t,rows:o,at:t.hasCurve?i:-1,rest:n==="all"?0:a-r,by:this.by,limit:this.limit,more:()=>{this.limit+=4*Kt,this.fill()}},c={width:(this.table.clientWidth||400)-20,height:Math.max(gh,this.table.clientHeight-4)},h=n==="map"?lo(this.store,l,c):n==="help"?[jh(t.header.suggestions)]:ro(this.store,l);this.table.replaceChildren(...h),this.count.hidden=n==="help";let d=o.reduce((w,m)=>w+m.count,0),f=t.hasCurve?i===this.peak?"at the peak":`at kernel ${b(i)}`:"",u=this.tabs.bar.querySelector("[data-tab=moment]");u&&(u.textContent=t.hasCurve?`Alive ${f}: ${y(a)}`:"Arguments and results"),this.back.hidden=!t.hasCurve||i===this.peak,this.count.textContent=`${b(d)} values, equal ones in a row`;for(let w of this.buttons??[])w.setAttribute("aria-pressed",String(w.isOn()));t.hasCurve&&this.tell()}tell(){let{memory:t,at:s,curve:i}=this,n=t.bands(this.space,this.by);this.legend.replaceChildren(...n.map(o=>p("span",{class:o.bytes[s]?"memband":"memband dim",title:`${o.name}: ${y(o.bytes[s])} at kernel ${b(s)}`},p("i",{class:`swatch ${o.color}`}),p("bdi",o.name),o.bytes[s]?p("span.dim",` ${y(o.bytes[s])}`):null))),i.setAttribute("aria-valuemin","0"),i.setAttribute("aria-valuemax",String(t.kernels-1)),i.setAttribute("aria-valuenow",String(s)),i.setAttribute("aria-valuetext",this.lines(s).join("; "))}lines(t){let{memory:s,space:i,store:n}=this,o=s.total(i)[t],r=n.data?.has("graph.kernel.names")?n.data.strings("graph.kernel.names"):null,a=r&&t<r.length?`, ${r.at(t)}`:"",l=s.alive(i,t),c=l.slice(0,co).map(({group:d,count:f,bytes:u})=>`${y(u)}  ${s.rows[d].name}${f>1?` \xD7 ${f}`:""}`),h=o-l.slice(0,co).reduce((d,f)=>d+f.bytes,0);return[`${y(o)} alive`,`kernel ${b(t)} of ${b(s.kernels)}${a}`,...c,...h>0?[`${y(h)}  all else`]:[]]}paint(){if(!this.memory.hasCurve||(this.width||=this.curve.clientWidth,!this.width))return;let t=it(this.canvas,this.width,this.height);t&&so(t,{scale:this.scale(),height:this.height,total:this.memory.total(this.space),bands:this.memory.bands(this.space,this.by),color:nt(this.canvas),life:this.life??null,peak:this.peak,at:this.at,hover:this.hover,limit:this.space?null:$h(this.memory.header.fits)})}scale(){return this.strip.width||=this.width,this.strip.scale()}kernelAt(t){let{left:s,width:i,from:n,span:o}=this.scale(),r=n+(t.clientX-this.curve.getBoundingClientRect().left-s)/i*o,a=Math.floor(r);return r<n||r>n+o||a<0||a>=this.memory.kernels?-1:a}point(t){let s=this.kernelAt(t);s!==this.hover&&(this.hover=s,this.draw()),s<0?this.tip.hide():this.tip.show(this.lines(s),t.clientX,t.clientY)}leave(){this.hover=-1,this.tip.hide(),this.draw()}key(t){if(t.ctrlKey||t.metaKey||t.altKey)return;let{at:s}=this,i={ArrowRight:s+1,ArrowLeft:s-1,ArrowUp:s+10,ArrowDown:s-10,PageUp:s+100,PageDown:s-100,Home:0,End:this.memory.kernels-1,p:this.peak},n={k:()=>this.setBy("kind"),s:()=>this.setBy("scope"),"+":()=>this.strip.zoom(.5,s),"=":()=>this.strip.zoom(.5,s),"-":()=>this.strip.zoom(2,s),0:()=>this.strip.show(0,this.memory.kernels)},o=i[t.key];o===void 0&&!n[t.key]||(t.preventDefault(),t.stopPropagation(),o===void 0?n[t.key]():this.pin(o))}},gs=class{constructor(t){this.owner=t,this.view={from:0,span:Math.max(1,t.memory.kernels)},this.width=0,this.parts=[]}scale(){return{left:66,width:Math.max(1,this.owner.width-76),...this.view,gap:0}}show(){}zoom(){}wheel(){}};function yh(e,t){let{selection:s}=t.state;return!s||s.type==="line"?[]:s.type==="buffer"?[s.row]:e.rows.flatMap((i,n)=>i.own?.type===s.type&&i.own.row===s.row?[n]:[])}function kh(e,t,s){let i=new Set(t);return e.sum(s,n=>i.has(e.groupOf[n]))}function $h(e){let t=e.find(s=>s.is_own);return t?{bytes:t.has,words:`${t.chip}: ${y(t.has)}`}:null}function jh(e){return p("ul.memhelp",e.map(t=>p("li",t)))}function Mh(e){let t=Math.min(1,e.needed/e.has),s=e.fits===!1?"does not fit":e.fits?"fits":"may fit";return p("span",{class:`memfit ${e.fits===!1?"over":""} ${e.how==="counted"?"":"hatched"}`,title:e.sentence},p("span.track",p("span.fill",{style:{width:`${100*t}%`}})),p("span",p("b",s),` ${e.words}, ${e.how}`))}function fo(e,t){let s=()=>e.data?.column("mesh.ids")??[],i=R(()=>{let n=e.state.device===null?null:s()[e.state.device];for(let o of t.querySelectorAll(".shards .ring"))o.classList.toggle("on",n!==null&&!!Yt.get(o)?.includes(n))});e.listen(i),t.addEventListener("click",n=>{let o=Yt.get(n.target);if(!o)return;let r=e.followed===null?-1:o.indexOf(s()[e.followed]),a=o[r+1];e.followed=a===void 0?null:[...s()].indexOf(a),e.set({device:e.followed})})}function bs(e){return e.map((t,s)=>s).filter(t=>e[t]>1).slice(0,4)}function vs(e,t=bs(e)){let s=e.reduce((m,x)=>m*x,1),i=e.map((m,x)=>e.slice(x+1).reduce((g,v)=>g*v,1)),n=e.map((m,x)=>x).filter(m=>e[m]>1&&!t.includes(m)),[o,r]=uo(t),a=0;t.length===1&&e[t[0]]>16&&(a=Math.ceil(Math.sqrt(e[t[0]]*2)));let l=m=>m.reduce((x,g)=>x*e[g],1),c=a||l(r),h=a?Math.ceil(e[t[0]]/a):l(o),d=new Int32Array(s),f=(m,x)=>x.reduce((g,v)=>g*e[v]+Math.floor(m/i[v])%e[v],0);for(let m=0;m<s;m++)n.some(x=>Math.floor(m/i[x])%e[x])?d[m]=-1:a?d[m]=f(m,t):d[m]=f(m,o)*c+f(m,r);let u=r.length>1?[e[r[r.length-1]]]:[],w=o.length>1?[e[o[o.length-1]]]:[];return{shown:t,folded:n,columns:c,rows:h,gapX:u,gapY:w,cellOf:d,sizes:e}}function uo(e){let t=e.filter((i,n)=>(e.length-n)%2===0),s=e.filter((i,n)=>(e.length-n)%2===1);return[t,s]}function ys(e){return uo(e.shown)}var At=14,ks="10.5px system-ui, sans-serif";function mo(e){let{first:t}=e,s=new $s(e),i=I("What the mesh shows",[["selection","Selection","The devices that send each other what is selected"],["heat","Sends","What each device sends per call"]],()=>e.state.heat,a=>e.set({heat:a})),n=p("p.said.meshwords.dim"),o=p("div.folds"),r=()=>{s.draw(),n.title=n.textContent=Ah(e)};return bs(t.mesh.shape).length<t.mesh.shape.filter(a=>a>1).length&&o.append(...Sh(e,s,r)),e.listen(a=>{a.has("heat")&&i.update(),["selection","data","heat","device","theme","pane","wide"].some(l=>a.has(l))&&r()}),new ResizeObserver(()=>s.resize()).observe(s.box),queueMicrotask(r),p("section.mesh",{"aria-label":"Mesh"},s.box,p("div.meshside",i.bar,n,o))}function Sh(e,t,s){let{axes:i,shape:n}=e.first.mesh;return i.map((o,r)=>{if(n[r]<2)return null;let a=p("button.chip",{"aria-pressed":String(t.grid.shown.includes(r)),title:`Draw ${o}, or show its first index only`,onclick:()=>{let l=t.grid.shown.includes(r)?t.grid.shown.filter(c=>c!==r):[...t.grid.shown,r].sort((c,h)=>c-h).slice(-4);t.grid=vs(n,l),t.resize(),[...a.parentElement?.children??[]].forEach(c=>c.setAttribute("aria-pressed",String(l.includes(Number(c.dataset.axis))))),s()},"data-axis":r},`${o} ${n[r]}`);return a}).filter(Boolean)}function Ah(e){let{first:t,data:s,state:i}=e,n=e.selected,o=i.device!==null&&s?Oh(s,i.device):"";if(o||t.mesh.missing)return o||t.mesh.missing;if(i.heat==="heat")return"the stronger, the more it sends (modelled, ring)";if(n&&i.selection?.type==="collective"&&s){let{axes:r,words:a}=s.header.axis_sets[n.axes];return`${j(n.groups_count,n.kind==="collective-permute"?"pair":"group")} ${r===null?a:`over ${a}`}: ${n.groups_words}`}return n&&i.selection?.type==="array"?`slices of ${n.spec}, ${n.each} each`:j(t.mesh.size,"device")}function Oh(e,t){let s=e.column("mesh.hosts")[t],[i,n]=E(e.column("mesh.coords.ends"),t),o=[...e.column("mesh.coords").subarray(i,n)],r=[`sends ${y(Math.round(e.column("sent")[t]??0))} per call`,s>=0?`host ${s}`:"",o.length?`at (${o.join(", ")})`:""];return`device ${e.column("mesh.ids")[t]}: ${r.filter(Boolean).join(", ")}`}var $s=class{constructor(t){this.store=t,this.grid=vs(t.first.mesh.shape),this.canvas=p("canvas",{tabindex:0,role:"img","aria-label":"Mesh",onmousemove:s=>this.point(s),onmouseleave:()=>t.set({device:t.followed}),onclick:s=>this.pick(s),onkeydown:s=>this.walk(s)}),this.box=p("div.meshbox",this.canvas),this.width=this.height=0,this.draw=R(()=>this.paint())}resize(){this.width=this.box.clientWidth,this.height=this.box.clientHeight,this.draw()}layout(){let{columns:t,rows:s,gapX:i,gapY:n}=this.grid,[o,r]=[this.leftWidth(),At+17],a=(u,w)=>u.length?Math.ceil(w/u[0])-1:0,[l,c]=[a(i,t),a(n,s)],h=(u,w,m)=>Math.max(1,Math.min(m,u/w)),d=h(this.width-o-6-8*l,t,80),f=h(this.height-r-6-6*c,s,58);return{left:o,top:r,w:d,h:f,x:u=>o+u*d+(i.length?Math.floor(u/i[0])*8:0),y:u=>r+u*f+(n.length?Math.floor(u/n[0])*6:0)}}leftWidth(){let[t]=ys(this.grid),s=Math.max(0,...t.map(i=>(this.store.first.mesh.axes[i]??"").length));return Math.min(110,Math.max(30,s*6.2+12))}paint(){if(!this.width||!this.height)return;let t=it(this.canvas,this.width,this.height);if(!t)return;t.font=ks;let s=nt(this.canvas),i=this.layout(),n=this.what(s);this.cells(t,i,s,n),n.row&&this.store.state.heat==="selection"&&this.groups(t,i,s,n.row),this.names(t,i,s),this.canvas.setAttribute("aria-label",this.label())}label(){let{first:t,state:s}=this.store,i=t.mesh.axes.map((o,r)=>`${o} ${t.mesh.shape[r]}`).join(" by "),n=s.device===null?"":`; device ${this.store.data?.column("mesh.ids")[s.device]??s.device}`;return`Mesh of ${j(t.mesh.size,"device")} ${i}${n}. Arrow keys choose a device.`}what(t){let{store:s}=this,{data:i,state:n,first:o}=s,r=n.selection?.type==="collective"?s.selected:null;if(n.heat==="heat"&&i)return this.heat(i,t);if(n.selection?.type==="array"&&i&&s.selected){let a=s.selected,l=V(i,a.sharding,a.shape);if(l)return this.slices(l,i,t,o.axes)}return{row:r,words:this.sentWords(r),fill:()=>"",shade:()=>0}}sentWords(t){if(!t)return()=>"";if(t.kind!=="collective-permute"||!this.store.data)return()=>t.sent;let{data:s}=this.store,i=s.column("groups.ends"),n=s.column("groups"),o=new Set,[r,a]=E(s.column("group_sets.ends"),t.groups);for(let l=r;l<a;l++){let[c,h]=E(i,l);h-c>1&&n[c]!==n[h-1]&&o.add(n[c])}return l=>o.has(l)?"":`
keeps`}heat(t,s){let i=t.column("sent"),n=0;for(let o of i)n=Math.max(n,o);return{row:null,words:o=>y(Math.round(i[o]??0)),fill:()=>s("select"),shade:o=>n?.08+.6*((i[o]??0)/n):0}}slices(t,s,i,n){let o=new Map;for(let h=0;h<t.devices.length;h++)o.set(t.devices[h],t.tileOf[h]);let r=s.column("mesh.ids"),a=t.tiles.reduce((h,d)=>h*d,1),l=i(A([...new Set((t.spec??[]).flat())],n));return{row:null,words:h=>o.has(r[h])?Vs(o.get(r[h]),t).join(`
`):"",fill:()=>l,shade:h=>o.has(r[h])?a===1?.2:.1+.45*o.get(r[h])/(a-1):0}}cells(t,s,i,n){let{columns:o,cellOf:r}=this.grid,a=this.store.data?.column("mesh.ids"),{device:l}=this.store.state,c=s.w<24||s.h<14,h=c?Math.min(1,s.w*.15):6;for(let d=0;d<r.length;d++){let f=r[d];if(f<0)continue;let u=s.x(f%o)+h,w=s.y(Math.floor(f/o))+h,[m,x]=[Math.max(.8,s.w-2*h),Math.max(.8,s.h-2*h)],g=n.shade(d);c?(t.globalAlpha=g||.35,t.fillStyle=g?n.fill(d):i("line"),t.fillRect(u,w,m,x),t.globalAlpha=1):this.box1(t,i,{x:u,y:w,w:m,h:x,shade:g,fill:n.fill(d),id:a?a[d]:d,words:n.words(d)}),d===l&&this.ring(t,i,u,w,m,x)}}box1(t,s,i){t.beginPath(),t.roundRect(i.x,i.y,i.w,i.h,4),t.fillStyle=s("bg"),t.fill(),i.shade&&(t.globalAlpha=i.shade,t.fillStyle=i.fill,t.fill(),t.globalAlpha=1),t.strokeStyle=s("line"),t.lineWidth=1,t.stroke(),t.fillStyle=s("text"),t.textAlign="left",t.font=`600 ${ks}`;let n=i.h>=28;if(t.fillText(String(i.id),i.x+5,i.y+(n?13:i.h/2+4)),t.font=ks,!n||!i.words)return;let o=i.h>=40&&!i.words.includes(`
`)&&t.measureText(i.words).width>i.w-8;i.words.split(o?" ":`
`).slice(0,i.h>=40?2:1).forEach((a,l)=>{t.measureText(a).width<=i.w-8&&t.fillText(a,i.x+5,i.y+26+13*l)})}ring(t,s,i,n,o,r){t.strokeStyle=s("select"),t.lineWidth=2,t.strokeRect(i-1,n-1,o+2,r+2)}groups(t,s,i,n){let{data:o,first:r}=this.store;if(!o)return;let a=i(A(o.header.axis_sets[n.axes].axes,r.axes)),[l,c]=E(o.column("group_sets.ends"),n.groups),h=o.column("groups.ends"),d=o.column("groups"),f=s.w<24||s.h<14;for(let u=l;u<c;u++){let[w,m]=E(h,u),x=d.subarray(w,m);f?this.tint(t,s,i,a,x,u-l):n.kind==="collective-permute"?this.arrow(t,s,a,x):this.capsule(t,s,a,x)}}tint(t,s,i,n,o,r){t.fillStyle=r?n:i("select"),t.globalAlpha=r?.25+.35*(r%2):.95;for(let a of o){let l=this.grid.cellOf[a];l>=0&&t.fillRect(s.x(l%this.grid.columns),s.y(Math.floor(l/this.grid.columns)),Math.max(1,s.w-.5),Math.max(1,s.h-.5))}t.globalAlpha=1}middle(t,s){let i=this.grid.cellOf[s];return i===void 0||i<0?null:[t.x(i%this.grid.columns)+t.w/2,t.y(Math.floor(i/this.grid.columns))+t.h/2]}capsule(t,s,i,n){let o=[...n].map(w=>this.middle(s,w)).filter(w=>w!==null);if(o.length<2)return;let r=o.map(([w])=>w),a=o.map(([,w])=>w),l=Math.max(...a)-Math.min(...a)<1&&Math.max(...r)-Math.min(...r)<(s.w+8)*(o.length-1)+1,c=Math.max(...r)-Math.min(...r)<1&&Math.max(...a)-Math.min(...a)<(s.h+6)*(o.length-1)+1;if(t.strokeStyle=t.fillStyle=i,!l&&!c)return this.arcs(t,i,o);let[h,d]=[Math.min(...r)-s.w/2+2,Math.min(...a)-s.h/2+2],[f,u]=[Math.max(...r)-Math.min(...r)+s.w-4,Math.max(...a)-Math.min(...a)+s.h-4];t.beginPath(),t.roundRect(h,d,f,u,6),t.globalAlpha=.13,t.fill(),t.globalAlpha=1,t.lineWidth=1.5,t.stroke(),t.lineWidth=3,t.beginPath();for(let w=1;w<o.length;w++){let[m,x]=[o[w-1],o[w]],g=l?s.w/2-6:s.h/2-6;l?(t.moveTo(m[0]+g,m[1]),t.lineTo(x[0]-g,x[1])):(t.moveTo(m[0],m[1]+g),t.lineTo(x[0],x[1]-g))}t.stroke()}arcs(t,s,i){t.strokeStyle=s,t.lineWidth=1.6;for(let n=1;n<i.length;n++){let[[o,r],[a,l]]=[i[n-1],i[n]];t.beginPath(),t.moveTo(o,r),t.quadraticCurveTo((o+a)/2+(l-r)*.18,(r+l)/2-(a-o)*.18,a,l),t.stroke()}}arrow(t,s,i,n){let o=this.middle(s,n[0]),r=this.middle(s,n[n.length-1]);if(!o||!r||n[0]===n[n.length-1])return;let[a,l]=[r[0]-o[0],r[1]-o[1]],c=Math.hypot(a,l)||1,[h,d]=[a/c,l/c],f=c>s.w*1.6?10:4,u=[o[0]+h*14-d*5,o[1]+d*10+h*5],w=[r[0]-h*14-d*5,r[1]-d*10+h*5];t.strokeStyle=t.fillStyle=i,t.lineWidth=1.6,t.beginPath(),t.moveTo(u[0],u[1]),t.quadraticCurveTo((u[0]+w[0])/2-d*f,(u[1]+w[1])/2+h*f,w[0],w[1]),t.stroke(),t.beginPath(),t.moveTo(w[0],w[1]),t.lineTo(w[0]-h*7-d*3.5,w[1]-d*7+h*3.5),t.lineTo(w[0]-h*7+d*3.5,w[1]-d*7-h*3.5),t.fill()}names(t,s,i){let{axes:n}=this.store.first.mesh;if(!n.length)return;let[o,r]=ys(this.grid),{columns:a,rows:l,gapX:c,gapY:h}=this.grid,d=m=>i(A([n[m]],this.store.first.axes));if(r.length){let m=r[r.length-1];if(t.textAlign="center",t.fillStyle=d(m),this.numbers(t,a,c[0]??a,s.w,22,x=>[s.x(x)+s.w/2,At+11]),this.named(t,n[m],s.left,At-3),r.length>1){let x=c[0],g=n[r[0]],v=s.left+t.measureText(n[m]).width+14;t.fillStyle=d(r[0]);let S=this.named(t,g,v,At-3);t.textAlign="center",this.numbers(t,a/x,1/0,x*s.w+8,22,$=>{let M=s.x($*x)+x*s.w/2;return M-10<S?null:[M,At-3]})}}if(!o.length)return;let f=s.h>=11||o.length<2,u=o[f?o.length-1:0],w=f?1:h[0];t.fillStyle=d(u),t.textAlign="right",this.numbers(t,l/w,f?h[0]??l:1/0,w*s.h,13,m=>[s.left-5,s.y(m*w)+w*s.h/2+4]),t.fillText(Ft(t,n[u],s.left-8),s.left-5,At+11)}named(t,s,i,n){t.textAlign="left";let o=Ft(t,s,this.width-i-4);return t.fillText(o,i,n),t.textAlign="center",i+t.measureText(o).width+8}numbers(t,s,i,n,o,r){let a=Math.max(1,Math.ceil(o/n));if(!(a>1&&i<s&&i<2*a))for(let l=0;l<s;l++){if(l%i%a)continue;let c=r(l);c&&t.fillText(String(l%i),...c)}}position(t){let s=this.canvas.getBoundingClientRect(),i=this.layout(),[n,o]=[t.clientX-s.left,t.clientY-s.top],r=(h,d,f,u)=>{for(let w=0;w<f;w++)if(u>=h(w)&&u<h(w)+d)return w;return-1},[a,l]=[r(i.x,i.w,this.grid.columns,n),r(i.y,i.h,this.grid.rows,o)];if(a<0||l<0)return null;let c=this.grid.cellOf.indexOf(l*this.grid.columns+a);return c<0?null:c}point(t){this.store.set({device:this.position(t)??this.store.followed})}pick(t){let s=this.position(t);this.store.followed=s===this.store.followed?null:s,this.store.set({device:this.store.followed})}walk(t){let s=this.grid.cellOf.length,{columns:i}=this.grid,n={ArrowDown:i,ArrowUp:-i},o=this.store.state.device??-1,r=o<0?-1:this.grid.cellOf[o],a=t.key in n?this.grid.cellOf.indexOf(Math.max(0,r)+n[t.key]):Et(t,o,s);if(t.key==="Escape")this.store.followed=null;else{if(a===null||a<0)return;this.store.followed=a}t.preventDefault(),this.store.set({device:this.store.followed})}};var[Th,Ch]=[66,104],[xo,Eh]=[18,4],go=30,Lh=16,bo=6,Se=6.2,wo=["forward","recompute","backward","optimizer"],Ot=["kernel","wait","transfer","copy"],zh=3,qt=e=>wo.includes(e)?`ph-${wo.indexOf(e)}`:"ph-none";function vo(e,t,s,i){let n=Math.max(...t.lanes.map(u=>u.name.length))*Se*1.1+8,o=Math.min(Ch,Math.max(Th,n)),r=Math.max(80,s-o-12),a=u=>o+r*u/t.length,l=[Ph()],h=t.loops.length?xo:Eh;t.lanes.forEach((u,w)=>{let m=w?Lh:go,x=u.axes.length?`axis ${A(u.axes,e.first.axes)}`:"";l.push(k("text",{class:`lane ${x}`,x:0,y:h+m/2+4},Nh(u.name,(o-8)/1.1))),l.push(k("rect.ground",{x:o,y:h,width:r,height:m})),u.pieces.forEach((g,v)=>l.push(...Bh(e,g,`${w}.${v}`,a,h,m))),h+=m+bo}),l.push(...t.loops.flatMap(u=>_h(u,a,i))),l.push(...Wh(t.length,a,h,r));let d=k("svg.timestrip",{width:s,height:h+16,viewBox:`0 0 ${s} ${h+16}`,"aria-hidden":"true"},l),f=p("div.stripbox",d);return Rh(e,t,f),f}function Bh(e,t,s,i,n,o){let[r,a,l,c,h,d]=t,f=i(r),u=Math.max(.75,i(a)-f),w=Ot[l]==="transfer",m=w?A(h,e.first.axes):Ot[l]==="kernel"?qt(c):"",x=[k("rect",{class:`piece ${Ot[l]} ${m} ${u>zh?"edged":""}`,...Ot[l]==="wait"?{fill:h&&!h.length?"url(#pjit-copies)":"url(#pjit-wait)"}:{},x:f,y:n,width:u,height:o,"data-piece":s})],g=Ot[l]==="wait"?D((a-r)*1e6):d;return!w&&g&&g.length*Se+10<u&&x.push(k("text",{class:`inside ${Ot[l]}`,x:f+u/2,y:n+o/2+4},g)),x}function _h([e,t,s,i],n,o){let r=n(e),a=n(t)-r,l=k("rect.loop",{x:r,y:xo-1.5,width:a,height:go+3});if(i.length*Se>a)return[l];let c=k("text.loopwords",{x:r+a/2,y:12,onclick:()=>o(s)},i);return[l,c]}function Wh(e,t,s,i){let n=e/Math.max(2,Math.floor(i/110)),o=10**Math.floor(Math.log10(n)),r=[1,2,5,10].map(l=>l*o).find(l=>l>=n)??n,a=[];for(let l=0;l*r<=e*1.0001;l++){let c=t(l*r),h=l?D(l*r*1e6).replace(/\.0+ /," "):"0";a.push(k("path.tick",{d:`M${c} ${s-bo}v4`})),a.push(k("text.tickwords",{x:Math.min(c,t(e)-12),y:s+9},h))}return a}function Ph(){let e=t=>k("pattern",{id:t,width:5,height:5,patternUnits:"userSpaceOnUse",patternTransform:"rotate(45)"},k("rect",{width:5,height:5,class:`${t} back`}),k("path",{d:"M1 0V5",class:t}));return k("defs",e("pjit-wait"),e("pjit-copies"))}function Rh(e,t,s){let i=q(s),n=o=>{let r=o.target.getAttribute?.("data-piece")?.split(".").map(Number);return r?t.lanes[r[0]].pieces[r[1]]:null};s.addEventListener("pointermove",o=>{let r=n(o);r?i.show(r[8],o.clientX,o.clientY):i.hide()}),s.addEventListener("pointerleave",()=>i.hide()),s.addEventListener("click",o=>{let r=n(o);r?.[7]&&e.selectName(r[7])})}function Nh(e,t){let s=Math.floor(t/Se);return e.length>s?`${e.slice(0,s-1)}\u2026`:e}var yo=["compute","memory","neither"],Ih=6.5;function Mo(e){let t=p("section.timepane",{"aria-label":"Time",tabindex:0,hidden:!0}),s=!1,i=()=>{let n=e.data?.header.time;s||e.state.centre!=="time"||!n||(s=!0,t.append(...Dh(e,n).filter(o=>o!==null)))};return e.listen(n=>(n.has("centre")||n.has("data"))&&i()),t}function Dh(e,t){let[s,i]=[t.range,t.ceilings];return[p("div.timepair",Ae("How sure","seconds a call",ko(s)),i.length>1?Ae("Ceilings","what no schedule can beat",ko(i,!0)):null),Ae("Shares","of a call",t.bars.map(Fh)),...Hh(e,t.strips,t.bars.length>1),Kh(e,t.tables),jo("Roofline",t.roofline),jo("Scaling",t.scaling),p("footer.dim.small",[`known by: ${t.known_by}`,...t.notes,t.footer].map(n=>p("p",n)))]}function Ae(e,t,s){return p("section.timepanel",p("h2.minor",e,p("span",` ${t}`)),s)}function ko(e,t=!1){return p("dl",{class:t?"timerows bound":"timerows"},e.flatMap(([s,i,n,o])=>[p("dt",s),p("dd.line",p("i",{style:{width:`${100*n}%`}})),p("dd.number",i),p("dd.saved.dim",o??"")]))}function Fh(e){return p("div.timebar",p("span.dim",e.name),p("div.stack",{role:"img","aria-label":e.parts.map(([t,,s])=>`${t} ${s}`).join("; ")},e.parts.map(([t,s,i])=>{let n=p("i",{class:$o(t),style:{width:`${100*s}%`},title:`${t}: ${i}`},p("span",`${t} ${Math.round(100*s)}\xA0%`));return new ResizeObserver(()=>{let o=n.firstElementChild;o.hidden=n.clientWidth<(o.textContent??"").length*Ih+8}).observe(n),n})),p("p.key.small",e.parts.map(([t,,s])=>p("span",p("i",{class:$o(t)}),t,p("span.dim",` ${s}`)))))}function $o(e){return yo.includes(e)?`limit-${yo.indexOf(e)}`:e==="waits for network"||e==="network"?"waits":qt(e)==="ph-none"&&e!=="kernels"?"rest":qt(e)}function Hh(e,t,s){if(!t.length)return[];let i=1,n=p("div.strips"),o=R(()=>{let l=n.clientWidth;if(!l)return;let c=[t[0],...t.length>1?[t[i]]:[]];n.replaceChildren(...c.map((h,d)=>p("section",{"aria-label":h.title},p("div.stripbar",p("h2.minor",h.title,p("span",h.network&&` ${h.network}`)),d&&t.length>2?a():null),vo(e,h,l,r))))}),r=l=>{i=l,o()},a=()=>p("span",{role:"group","aria-label":"Which loop is open"},t.slice(1).map((l,c)=>p("button.button",{"aria-pressed":String(c+1===i),onclick:()=>r(c+1)},t.slice(1).filter(h=>h.phase===l.phase).length>1||!l.phase?`loop ${c+1}`:l.phase)));return new ResizeObserver(o).observe(n),[p("section.timepanel",s?null:Uh(t),n)]}function Uh(e){let t=e.flatMap(o=>o.lanes),s=new Set(t.flatMap(o=>o.pieces.filter(r=>r[2]===0).map(r=>r[3]))),i=t.some(o=>o.pieces.some(r=>r[2]===1)),n=[...s].map(o=>[qt(o),o||"kernels"]);return i&&n.push(["waits","waits for network"]),p("p.key.small",n.map(([o,r])=>p("span",p("i",{class:o}),r)))}function Kh(e,t){let s=0,i=p("div.timetable",{tabindex:0,role:"region","aria-label":"What takes the time"}),n=I("What takes the time",t.map((r,a)=>[String(a),r.name,`Seconds of a call ${r.name}`]),()=>String(s),r=>{s=Number(r),n.update(),o()}),o=()=>i.replaceChildren(qh(e,t[s]));return o(),p("section.timepanel",p("div.stripbar",p("h2.minor","What takes the time"),n.bar),i)}function qh(e,{titles:t,right:s,rows:i,names:n,rest:o}){let r=a=>s[a]?"right":void 0;return p("table",p("thead",p("tr",t.map((a,l)=>p("th",{class:r(l)},a)))),p("tbody",i.map((a,l)=>p("tr",{onclick:()=>n[l]&&e.selectName(n[l])},a.map((c,h)=>p("td",{class:r(h)},T(c,e.first.axes))))),o?p("tr",p("td.dim",{colspan:t.length},o)):null))}function jo(e,t){if(!t)return null;let{src:s,alt:i,width:n,height:o,title:r,notes:a}=t;return Ae(e,r,[p("div.roofline",{tabindex:0,role:"region","aria-label":e},p("img",{src:s,alt:i,width:n,height:o})),p("p.dim.small",a)])}var at=16,Oe=[["source","Source"],["jaxpr","jaxpr"],["stablehlo","StableHLO"],["hlo","HLO"]];function So(e){let t=Oe.map(([h,d])=>p("button.chip",{"data-text":h,onclick:()=>Xh(e,h)},d)),s=p("span.dim.hits",{role:"status"}),i=p("input",{type:"search",class:"filter textsearch",placeholder:"Find in the texts","aria-label":"Find in the texts",title:"Enter: the next line, Shift Enter: the one before",oninput:()=>n(0),onkeydown:h=>h.key==="Enter"&&n(h.shiftKey?-1:1)}),n=h=>{let d=a.map(f=>f.find(i.value,h));s.textContent=i.value?j(d.reduce((f,u)=>f+u,0),"line"):""},o=p("div.textbar",{role:"group","aria-label":"Which texts"},i,s,t),r=p("div.texts"),a=[],l=()=>{let{shown:h}=e.state;t.forEach(d=>d.setAttribute("aria-pressed",String(h.includes(d.dataset.text??"")))),a=e.data?Oe.filter(([d])=>h.includes(d)).map(([d,f])=>new js(e,d,f)):[],r.replaceChildren(...a.length?a.map(d=>d.box):[p("p.nothing",e.data?"Choose a text above.":"")]),c()},c=()=>{let h=a.map(d=>d.hold);requestAnimationFrame(()=>{a.forEach((d,f)=>h[f]||d.follow()),a.forEach(d=>d.draw())})};return e.listen(h=>{h.has("data")||h.has("shown")||h.has("files")?l():["selection","pane","centre"].some(d=>h.has(d))?c():(h.has("hoverSpot")||h.has("wide"))&&a.forEach(d=>d.draw()),h.has("wide")&&e.set({shown:e.state.wide?Oe.map(([d])=>d):["source","hlo"]})}),l(),{bar:o,box:r}}function Xh(e,t){let s=e.state.shown.includes(t);e.set({shown:Oe.map(([i])=>i).filter(i=>i===t?!s:e.state.shown.includes(i))})}var js=class{constructor(t,s,i){this.store=t,this.kind=s,this.hold=!1,this.found=[],this.at=-1,this.first=this.last=-1,this.rows=[];let n=t.data;this.key=s==="source"?`source${t.state.files}`:s;let o=n.header.texts[this.key];this.lines=n.strings(`${this.key}.lines`),this.numbers=n.column(`${this.key}.numbers`),this.spots=n.column(`${this.key}.spots`),this.phases=n.column(`${this.key}.phases`),this.entities=n.column(`${this.key}.entities`);let r=o?.total??this.lines.length,a=this.lines.length<r?`${b(this.lines.length)} of ${j(r,"line")}`:j(r,"line");this.view=p("div.window"),this.space=p("div.space",{style:{height:`${this.lines.length*at+4}px`,"min-width":`calc(${Math.min(500,this.lines.longest())+8} * 1ch)`}},this.view),this.scroll=p("div.scroll",{tabindex:0,role:"region","aria-label":i,onscroll:()=>this.draw()},this.space);let l=p("div.texthead",p("b",i),s==="source"?this.files(n):p("span.dim",{title:"Lines are numbered as in the whole text"},o?a:""),o?.how?p("span.dim.guess",{tabindex:0,role:"note",title:o.how,"aria-label":o.how},"matched by order"):null,o?.note?p("span.dim.left",{title:o.note},o.note):null);this.box=p("div",{class:o?"textpane":"textpane missing"},l,o?this.scroll:p("p.nothing",n.header.missing[this.key]??"There is no such text.")),new ResizeObserver(()=>this.draw()).observe(this.scroll)}files(t){let s=Object.keys(t.header.texts).filter(i=>i.startsWith("source"));return s.length<2?p("span.dim.code",t.header.texts.source0?.name??""):ct("File",s.map((i,n)=>[n,t.header.texts[i].name]),this.store.state.files,i=>this.store.set({files:Number(i)}))}state(t,s){let{entity:i,spots:n,hover:o,strong:r}=s;if(i>=0&&this.entities[t]===i)return"is";let a=this.spots[t];return a<0?"":n.has(a)&&(s.phases===null||this.kind==="source"||this.phases[t]===0||s.phases.has(this.phases[t]))?this.kind==="source"||r?"is":"of":a===o?"hover":""}marks(){let{hoverSpot:t}=this.store.state,{listed:s}=this.store,i=s?.type==="collective"?2*s.row:s?.type==="kernel"?2*s.row+1:-1,n=s?.type==="collective"?this.store.data?.header.phases.indexOf(this.store.selected?.phase??"")??0:0;return{entity:i,spots:this.store.spots(),phases:n>0?new Set([n]):null,hover:t,strong:!1}}draw(){let t=this.scroll.scrollTop,s=this.scroll.clientHeight;if(!s)return;let i=Math.max(0,Math.floor(t/at)-4),n=Math.min(this.lines.length,Math.ceil((t+s)/at)+4),o=this.marks();if(i===this.first&&n===this.last){this.rows.forEach((a,l)=>{a.className!==this.style(i+l,o)&&(a.className=this.style(i+l,o))});return}let r=[];for(let a=i;a<n;a++)r.push(this.line(a,o));[this.first,this.last,this.rows]=[i,n,r],this.view.style.transform=`translateY(${i*at}px)`,this.view.replaceChildren(...r)}isLinked(t){return this.spots[t]>=0||this.entities[t]>=0}find(t,s){let i=t.toLowerCase();if(!s){this.found=[];for(let o=0;i&&o<this.lines.length;o++)this.lines.at(o).toLowerCase().includes(i)&&this.found.push(o)}let n=this.found.length;return this.at=n?s?(Math.max(0,this.found.indexOf(this.at))+s+n)%n:0:-1,this.at=this.at<0?-1:this.found[this.at],this.at>=0&&(this.scroll.scrollTop=Math.max(0,(this.at-4)*at)),this.draw(),n}style(t,s){return`ln ${this.state(t,s)}${this.isLinked(t)?" linked":""}${t===this.at?" hit":""}`}line(t,s){let i=this.spots[t],n=this.isLinked(t);return p("div",{class:this.style(t,s),onclick:n?()=>this.click(t):void 0,onmouseenter:i>=0?()=>this.store.set({hoverSpot:i}):void 0},p("span.no",String(this.numbers[t])),p("bdi",this.lines.at(t)))}click(t){let s=this.entities[t];this.hold=!0,s>=0?this.store.select(pt(s)):this.store.select({type:"line",row:this.spots[t]}),this.hold=!1}follow(){let t=this.marks();(t.entity>=0||t.spots.size)&&this.reveal(t)}reveal(t){let s=this.scroll.scrollTop/at,i=s+this.scroll.clientHeight/at-1;for(let o=Math.max(0,Math.ceil(s));o<Math.min(i,this.lines.length);o++)if(this.state(o,t)==="is")return;let n=this.firstOf(t);n>=0?this.scroll.scrollTop=Math.max(0,(n-4)*at):this.kind==="source"&&this.otherFile(t)}firstOf(t){let s=t.entity<0?-1:this.entities.indexOf(t.entity);if(s>=0)return s;let i=this.lines.length;for(let n of t.spots)for(let o=this.spots.indexOf(n);o>=0&&o<i;o=this.spots.indexOf(n,o+1))this.state(o,t)&&(i=o);return i<this.lines.length?i:-1}otherFile(t){let{data:s}=this.store,i=[...t.spots][0];if(!s||i===void 0)return;let n=s.column("spot_files")[i];n!==this.store.state.files&&`source${n}`in s.header.texts&&queueMicrotask(()=>this.store.set({files:n}))}};var Ms="Each device sends per call, by mesh axis",Gh=["axes","list","text","kind","cause","note","isChanged"];function Ao(e){let{first:t}=e,s=t.totals.map(n=>{let o=t.axis_sets[n.axes],r=`sends ${n.sent} (modelled, ring)`,a=p("button",{class:`total ${A(o.axes,t.axes)}`,"aria-pressed":"false",title:`${o.words}: ${r}; ${n.number}`,onclick:()=>e.set({list:"collectives",axes:e.state.axes===n.axes?null:n.axes})},p("span.axisname",o.words),p("span.track",p("span.fill",{style:{width:`${Math.max(.8,100*n.share)}%`}})),p("span.figure",n.sent),p("span.count",n.number));return{total:n,button:a}}),i=p("h2.minor",{"aria-live":"polite"},Ms);return e.listen(n=>Gh.some(o=>n.has(o))&&Vh(e,i,s)),p("section.totals",{"aria-label":Ms},i,s.length?s.map(n=>n.button):p("p.dim",t.unsent??"Nothing is sent."),t.memory.length?p("p.memory.dim",T(t.memory,t.axes)):null,t.measured?p("p.memory.dim",t.measured):null)}function Vh(e,t,s){let{state:i,first:n}=e,{sums:o,number:r}=mi(e,i.list==="collectives"?i:{...i,...W,list:"collectives"}),a=i.list==="collectives"&&xt({...i,axes:null});t.textContent=a?`Each device sends per call, ${b(r)} of ${b(n.counts[0])} collectives`:Ms;for(let{total:l,button:c}of s){let[h,d]=o.get(l.axes)??[0,0],f=l.sent_bytes?h/l.sent_bytes:0;c.setAttribute("aria-pressed",String(i.axes===l.axes)),c.classList.toggle("faded",i.axes!==null&&i.axes!==l.axes);let[u,w,m]=[".fill",".figure",".count"].map(x=>c.querySelector(x));u.style.width=a?`${100*l.share*f}%`:`${Math.max(.8,100*l.share)}%`,u.style.minWidth=a&&!h?"0":"",w.textContent=a?y(Math.round(h)):l.sent,m.textContent=a?j(d,"collective"):l.number}}var Yh=256,X=32,Jh=[.25,.5,.75,1],Oo=e=>.1+.9*Math.sqrt(e);function To(e){let t=p("canvas",{role:"img",tabindex:0,"aria-label":"Traffic between devices",onmousemove:c=>l(c),onmouseleave:()=>{s.textContent=""}}),s=p("p.tip",{"aria-live":"polite"}),i=p("div.scale"),n=p("div.busiest"),o=p("div.traffic",p("div.matrix",t,i,s),n),r=null,a=()=>{let{data:c}=e;c&&(r??=Qh(e),tp(t,r,o),!n.childElementCount&&(n.append(...sp(e)),i.append(...ep(r))))},l=c=>{if(!r)return;let h=t.getBoundingClientRect(),{count:d,per:f}=r,u=Co(r),w=Math.floor((c.clientY-h.top-X)/(h.height-X)*d),m=Math.floor((c.clientX-h.left-u)/(h.width-u)*d);if(w<0||m<0||w>=d||m>=d)return;let[x,g]=[w,m].map(S=>Zh(e,S,f)),v=y(Math.round(r.cells[w*d+m]));s.textContent=`${x} sends ${g} ${v} per call (modelled)`};return e.listen(c=>{["data","centre","pane","theme"].some(h=>c.has(h))&&e.state.centre==="traffic"&&requestAnimationFrame(a)}),new ResizeObserver(()=>e.state.centre==="traffic"&&a()).observe(o),o}function Zh(e,t,s){let i=e.data?.column("mesh.ids")??[];return s===1?`device ${i[t]}`:`positions ${b(t*s)}\u2013${b((t+1)*s-1)}`}function Qh(e){let t=e.data,s=e.first.mesh.size||1,i=Math.ceil(s/Yh),n=Math.ceil(s/i),o=new Float64Array(n*n),[r,a,l]=["traffic.sources","traffic.targets","traffic.bytes"].map(c=>t.column(c));for(let c=0;c<r.length;c++)o[Math.floor(r[c]/i)*n+Math.floor(a[c]/i)]+=l[c];return{cells:o,count:n,per:i}}function tp(e,t,s){let i=Co(t),n=Math.max(120,Math.min(s.clientWidth-40,s.clientHeight-96,34*t.count+i,460)),o=it(e,n,n);if(!o)return;let r=nt(e),[a,l]=[(n-i)/t.count,(n-X)/t.count],c=0;for(let d of t.cells)c=Math.max(c,d);o.fillStyle=r("panel"),o.fillRect(i,X,n-i,n-X),o.fillStyle=r("select");for(let d=0;d<t.cells.length;d++)t.cells[d]&&(o.globalAlpha=Oo(t.cells[d]/c),o.fillRect(i+d%t.count*a,X+Math.floor(d/t.count)*l,Math.max(.7,a-(a>6?1:0)),Math.max(.7,l-(l>6?1:0))));o.globalAlpha=1,o.fillStyle=r("dim"),o.font="10px system-ui, sans-serif";let h=Math.max(1,Math.ceil((12+6*String(t.count*t.per).length)/a));for(let d=0;d<t.count;d+=h){let f=o.measureText(String(d*t.per)).width/2;o.textAlign="center",i+(d+.5)*a+f<=n&&o.fillText(String(d*t.per),i+(d+.5)*a,X-5),o.textAlign="right",o.fillText(String(d*t.per),i-4,X+(d+.5)*l+3)}o.textAlign="center",o.fillText("to device \u2192",i+(n-i)/2,11),o.rotate(-Math.PI/2),o.fillText("\u2190 from device",-X-(n-X)/2,11),e.setAttribute("aria-label",`Traffic between ${t.count} places of the mesh; the busiest links stand in the table`)}var Co=e=>26+6.5*String(e.count*e.per).length;function ep(e){let t=0;for(let s of e.cells)t=Math.max(t,s);return t?[p("span",e.per>1?`${e.per} devices send ${e.per} others, per call:`:"a device sends another, per call:"),...Jh.map(s=>{let i=s*s;return p("span",p("i.shade",{style:{opacity:Oo(i)}}),y(Math.round(i*t)))})]:[]}function sp(e){let t=e.data,[s,i,n]=["traffic.sources","traffic.targets","traffic.bytes"].map(c=>t.column(c)),o=t.column("mesh.ids");if(!s.length)return[p("p.nothing",t.header.missing.hlo??"No device sends anything.")];let a=Array.from(n.keys()).sort((c,h)=>n[h]-n[c]).slice(0,24).map(c=>p("tr",p("td",`${o[s[c]]} \u2192 ${o[i[c]]}`),p("td.figure",y(Math.round(n[c]))))),l=t.header.traffic_left_out;return[p("h2.minor","Busiest links, per call"),p("table.numbers",p("tr",p("th",{scope:"col"},"from \u2192 to"),p("th",{scope:"col",class:"figure"},"sends")),a),p("p.dim.small","Rows send, columns receive; numbers are positions in the mesh. Modelled: rings send to the next device of the group, an all-to-all an equal part to each; permutes are counted."),l?p("p.dim.small",`${b(l)} collectives are not in it: their groups are unknown or too many.`):""]}var Ss=640,ip=1100,np=236,Eo=[["centre","Overview","The program: graph, memory, texts, traffic"],["list","List","Collectives, arrays and kernels, one a row"],["details","Details","What is selected, and why it is there"],["mesh","Mesh","The devices, and what each sends"]];function Os(e,t){let s=new ee(t);e.classList.add("pjit-inspector"),e.setAttribute("data-lm-suppress-shortcuts","true"),s.isNarrow=()=>e.clientWidth<=Ss;let i=p("p.offscreen",{"aria-live":"polite"}),n=I("Panes",Eo,()=>s.state.pane,c=>s.set({pane:c}));n.bar.classList.add("panes");let o=Ao(s),r=ap(s),a=p("div",{class:t.mesh.size>1?"frame":"frame single"},Hn(s),n.bar,Vn(s),r,li(s),o,mo(s),i);e.replaceChildren(a),new ResizeObserver(()=>{let c=e.clientWidth>Ss?r.querySelector(".traffic"):a;o.parentNode!==c&&c?.prepend(o)}).observe(e);let l=()=>{a.classList.toggle("wide",s.state.wide);for(let[c]of Eo)a.classList.toggle(`pane-${c}`,s.state.pane===c)};return l(),s.listen(c=>{(c.has("pane")||c.has("wide"))&&l(),c.has("pane")&&n.update(),c.has("selection")&&(i.textContent=rp(s)),c.has("data")&&!s.state.selection&&s.select(op(s),!0)}),fo(s,e),e.tabIndex=-1,e.addEventListener("keydown",c=>Lo(s,e,c)),e.addEventListener("click",c=>As(e,c.target)),e.ownerDocument.body===e.parentNode&&document.addEventListener("keydown",c=>Lo(s,e,c)),s}function zo(e,t){let s=l=>e.querySelector(l),{height:i}=t.graphNeed(),n=(s(".centrebar")?.offsetHeight??0)+i,o=s(".details")?.scrollHeight??0,r=s(".top")?.offsetHeight??0,a=e.clientWidth;return a<=Ss?r+(s(".panes")?.offsetHeight??0)+n+Math.min(o,np):a<=ip?r+Math.max(n,5/3*Math.min(o,340)):r+Math.max(n,o)}function op(e){let t=n=>dt(e,{...e.state,list:n})[0]?.[1],s=t("collectives");if(s!==void 0)return{type:"collective",row:s};let i=e.first.measured?t("kernels"):void 0;return i!==void 0?{type:"kernel",row:i}:e.rows("arrays").length?{type:"array",row:0}:null}function rp(e){let t=e.selected;return t?[t.kind??t.role,t.what??t.name,t.sent??t.all??t.traffic].join(", "):e.selectionName()}function ap(e){let{bar:t,box:s}=So(e),i={graph:In(e,to(e)),advice:Hs(e),time:Mo(e),memory:po(e),text:s,traffic:To(e)},{first:n}=e,o=c=>c==="text"||(c==="traffic"?n.mesh.size>1:c==="advice"?e.advice:n[`has_${c}`]),r=I("What the middle shows",[["graph","Graph","The program's parts, what flows between them, and their collectives (g)"],...[["advice",["Advice",qs(e)],"Changes that XLA was asked about"],["time","Time","Where the seconds of a call go (s)"],["memory","Memory","What is alive on a device while the program runs (a)"],["text","Linked text","Source, jaxpr, StableHLO and HLO side by side (t)"],["traffic","Traffic","What each device sends over each mesh axis, and to each other device (m)"]].filter(([c])=>o(c))],()=>e.state.centre,c=>e.set({centre:c})),a=p("section.centre",{"aria-label":"Program"},p("div.centrebar",r.bar,t,Us(e)),Ks(e),Object.values(i)),l=()=>{r.update();for(let[c,h]of Object.entries(i))h.hidden=c!==e.state.centre;t.hidden=e.state.centre!=="text"};return e.draws(["centre"],l),a}function Lo(e,t,s){let i=s.target;s.stopPropagation();let n=i.matches("input, select, textarea");if(s.key==="Escape")return e.closers.some(l=>l())?s.preventDefault():xt(e.state)?e.set(W):n?t.focus({preventScroll:!0}):e.select(null),As(t,i);if(s.ctrlKey||s.metaKey||s.altKey||n)return;let{first:o}=e,a={"/":()=>{e.set({pane:"list",wide:!1}),t.querySelector(".list .filter")?.focus()},"?":()=>t.querySelector(".helpbutton")?.click(),t:()=>e.set({centre:"text",pane:"centre"}),s:()=>o.has_time&&e.set({centre:"time",pane:"centre"}),a:()=>o.has_memory&&e.set({centre:"memory",pane:"centre"}),g:()=>e.set({centre:"graph",pane:"centre"}),m:()=>o.mesh.size>1&&e.set({centre:"traffic",pane:"centre"}),w:()=>e.set({wide:!e.state.wide}),c:()=>t.querySelector(".copytext")?.click(),x:()=>e.removed.size&&e.set({isChanged:!e.state.isChanged}),n:()=>t.querySelector(".notesbutton")?.click(),...i===t||!t.contains(i)?{ArrowDown:()=>e.walk(1),ArrowUp:()=>e.walk(-1)}:{}}[s.key];!a||s.defaultPrevented||(s.preventDefault(),a(),As(t,i))}function As(e,t){let{activeElement:s}=e.getRootNode();(!s||s===document.body||s===t)&&!t.getClientRects().length&&e.focus({preventScroll:!0})}var Bo="pjit_inspect.height",_o=400,Wo=1600,Po=24,lp=720,cp=800,Ts=0;function Ro(e){return{remembered:()=>{try{return Number(localStorage.getItem(Bo))||Ts}catch{return Ts}},set:(t,s)=>{if(e.style.setProperty("--pjit-height",`${t}px`),!!s){Ts=t;try{localStorage.setItem(Bo,String(t))}catch{}}}}}function No(e){let t=i=>parent.postMessage({pjitInspect:i},"*"),s=i=>{let n=i.source===parent?i.data?.pjitInspect?.remembered:void 0;typeof n=="number"&&(removeEventListener("message",s),e({remembered:()=>n,set:(o,r)=>t({height:o,isChosen:r})}))};addEventListener("message",s),t({isOpen:!0})}function Io(e,{need:t,isTall:s},i){let n=h=>Math.round(Math.max(_o,Math.min(Wo,h))),o=i.remembered()||(s()?cp:lp),r=h=>{i.set(n(h),!0),a.setAttribute("aria-valuenow",String(n(h)))},a=p("div.heightbar",{role:"separator","aria-orientation":"horizontal","aria-label":"Height of the inspector","aria-valuemin":_o,"aria-valuemax":Wo,title:"Drag to make it higher or lower (\u2191 \u2193)",tabindex:0,onkeydown:h=>{let d={ArrowDown:Po,ArrowUp:-Po}[h.key];d&&(h.preventDefault(),h.stopPropagation(),r(e.offsetHeight+d))}}),l=0;a.addEventListener("pointerdown",h=>{l=e.offsetHeight-h.screenY,a.setPointerCapture(h.pointerId),h.preventDefault()}),a.addEventListener("pointermove",h=>{a.hasPointerCapture(h.pointerId)&&r(l+h.screenY)}),e.classList.add("dragged"),e.append(a);let c=n(Math.min(t()+a.offsetHeight,o));a.setAttribute("aria-valuenow",String(c)),i.set(c,!1)}function Do(e){let t=["graph","text","traffic",...e.advice?["advice"]:[],...e.first.has_time?["time"]:[],...e.first.has_memory?["memory"]:[]],s=()=>{let o=new URLSearchParams(location.hash.slice(1)),r={};t.includes(o.get("view")??"")&&(r.centre=o.get("view")),["collectives","arrays","kernels"].includes(o.get("list")??"")&&(r.list=o.get("list")),["list","details","centre","mesh"].includes(o.get("pane")??"")&&(r.pane=o.get("pane")),o.has("wide")&&(r.wide=!0),o.has("theme")&&(document.documentElement.dataset.theme=o.get("theme")??""),e.set(r);let a=o.get("sel");a&&a!==e.selectionName()&&e.set({stale:e.selectName(a)?"":a})};s(),addEventListener("hashchange",s);let i=()=>{let o=new URLSearchParams(location.hash.slice(1));e.state.stale||o.set("sel",e.selectionName()),o.set("view",e.state.centre),e.state.wide?o.set("wide",""):o.delete("wide");try{history.replaceState(null,"",`#${o}`)}catch{}},n=0;e.listen(o=>{["selection","centre","wide"].some(r=>o.has(r))&&(clearTimeout(n),n=setTimeout(i,120))})}var Cs=async e=>Zs(await ti(e)),Fo=e=>Cs(Qs(document.getElementById(e)?.textContent??""));async function Ho(e,t){if(typeof document>"u")return;let[s,i]=["pjit-inspector","pjit-first"].map(r=>document.getElementById(r));if(!s||!i)return;document.head.append(p("style",e));let n=new URLSearchParams(location.hash.slice(1)).get("theme");n&&(document.documentElement.dataset.theme=n);let o=t(s,JSON.parse(i.textContent??""),Fo);try{o(await Fo("pjit-blob")),performance.mark("pjit-ready"),s.setAttribute("data-ready","true")}catch(r){s.append(p("p.nothing",`The rest of this page could not be read: ${r}`))}}function Uo(e,t,s=()=>{}){let i=e.attachShadow?e.attachShadow({mode:"open"}):e,n=p("div");i.append(p("style",t),n);let o=()=>{n.classList.toggle("light",document.body.dataset.jpThemeLight==="true"),n.classList.toggle("dark",document.body.dataset.jpThemeLight==="false")};o();let r=new MutationObserver(()=>(o(),s()));return r.observe(document.body,{attributes:!0,attributeFilter:["data-jp-theme-light","data-jp-theme-name"]}),{root:n,unwatch:()=>r.disconnect()}}function Ko(e,t){for(let[s,i]of Object.entries(t))e.on(s,i);return()=>Object.entries(t).forEach(([s,i])=>e.off(s,i))}var qo=`.pjit-inspector .waits::before {
  content: "";
  display: inline-block;
  width: 7px;
  height: 7px;
  margin-right: 6px;
  border: 1.5px solid var(--dim);
  border-right-color: transparent;
  border-radius: 50%;
  animation: pjit-turn 1s linear infinite;
}
@keyframes pjit-turn {
  to {
    transform: rotate(1turn);
  }
}
@media (prefers-reduced-motion: reduce) {
  .pjit-inspector .waits::before {
    animation: none;
  }
}
.pjit-inspector .advicehead {
  display: flex;
  gap: 8px;
  align-items: center;
  height: 24px;
  min-width: 0;
}
.pjit-inspector .advicewords {
  flex: 1;
  font-size: 14px;
  line-height: 20px;
}
.pjit-inspector .advicewords code {
  line-height: 1;
}
.pjit-inspector .advicechange {
  grid-column: 1 / -1;
  display: flex;
  gap: 6px;
  align-items: center;
  min-width: 0;
}
.pjit-inspector .written {
  min-width: 0;
  overflow-x: auto;
  scrollbar-width: none;
  white-space: pre;
  background: var(--panel);
  border-radius: 3px;
  padding: 2px 6px;
}
.pjit-inspector :is(.advicechange, .advicehead) .button {
  flex: none;
}
.pjit-inspector .advice {
  overflow-y: auto;
  min-height: 0;
  padding: 8px 12px 12px;
  display: grid;
  gap: 6px;
  align-content: start;
}
.pjit-inspector .advice[hidden] {
  display: none;
}
.pjit-inspector .advicerow {
  display: grid;
  gap: 4px;
  padding: 7px 0 8px;
  border-top: 1px solid var(--rule);
  min-width: 0;
  overflow-wrap: anywhere;
}
.pjit-inspector .advicetitle {
  display: flex;
  flex-wrap: wrap;
  gap: 2px 8px;
  align-items: center;
}
.pjit-inspector .advicetitle b {
  font-size: 14px;
  line-height: 20px;
}
.pjit-inspector .advicewords code {
  line-height: 1;
}
.pjit-inspector .advicetitle .number {
  width: 17px;
  height: 17px;
  line-height: 16px;
  border: 1px solid var(--line);
  border-radius: 50%;
  text-align: center;
  font-size: 11px;
  font-weight: 600;
  box-sizing: border-box;
}
.pjit-inspector .brought {
  padding: 3px 10px;
  border-bottom: 1px solid var(--rule);
}
.pjit-inspector .adviceplace {
  border: 0;
  background: none;
  padding: 0;
  cursor: pointer;
  color: var(--select);
}
.pjit-inspector .known {
  margin-left: auto;
  font-size: 11px;
  color: var(--dim);
}
.pjit-inspector .known::before {
  content: "";
  display: inline-block;
  width: 8px;
  height: 8px;
  margin-right: 5px;
  border: 1.5px solid var(--dim);
  border-radius: 50%;
  box-sizing: border-box;
}
.pjit-inspector .known.counted::before {
  background: linear-gradient(90deg, var(--dim) 50%, transparent 50%);
}
.pjit-inspector .known.compiled::before {
  background: var(--dim);
}
.pjit-inspector .known:is(.asking, .compiling)::before {
  border-right-color: transparent;
  animation: pjit-turn 1s linear infinite;
}
.pjit-inspector .known.fact::before {
  display: none;
}
@media (prefers-reduced-motion: reduce) {
  .pjit-inspector .known::before {
    animation: none !important;
  }
}
.pjit-inspector .advicefigures {
  display: flex;
  flex-wrap: wrap;
  gap: 6px 20px;
  align-items: start;
}
.pjit-inspector .advicefigures > div {
  width: 200px;
  display: grid;
  gap: 2px;
}
.pjit-inspector .advicefigures p {
  display: flex;
  gap: 4px;
}
.pjit-inspector .advicefigures > div .dim {
  margin-left: auto;
}
.pjit-inspector .advicefigures :is(.from, .to) {
  display: block;
  height: 5px;
  min-width: 2px;
  box-sizing: border-box;
  border: 1px solid var(--line);
}
.pjit-inspector .advicefigures .to {
  background: var(--line);
}
.pjit-inspector .advicefigures .costs,
.pjit-inspector .refused {
  color: var(--note);
  overflow-wrap: anywhere;
}
@container (max-width: 640px) {
  .pjit-inspector .advicehead {
    flex-wrap: wrap;
    height: 92px;
  }
  .pjit-inspector .advicewords {
    flex: 0 0 100%;
    height: 60px;
    white-space: normal;
    display: -webkit-box;
    -webkit-line-clamp: 3;
    -webkit-box-orient: vertical;
  }
  .pjit-inspector .advicehead .primary {
    flex: 1;
    padding: 4px;
  }
}
`;var Xo=`.pjit-inspector .boxpane {
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
.pjit-inspector.inset .boxpane.quiet .boxbody {
  overflow: hidden;
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
.dag.chosen:not(.flow) .edge:not(.lit) {
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
.pjit-inspector .flowpane {
  flex: 1;
  min-height: 0;
  display: flex;
  flex-direction: column;
  background: var(--bg);
}
.pjit-inspector .flowpane[hidden] {
  display: none;
}
.pjit-inspector .flowbody {
  flex: 1;
  min-height: 0;
  overflow: auto;
}
.pjit-inspector .flowview {
  flex: 1;
  min-height: 0;
  display: flex;
  position: relative;
}
.pjit-inspector .flowclip {
  position: absolute;
  top: 0;
  left: 0;
  overflow: clip;
  touch-action: none;
}
.pjit-inspector .flowfoot {
  flex: none;
  padding: 3px 10px;
  border-top: 1px solid var(--rule);
  font-size: 11px;
}
.pjit-inspector .flowing > .graphview,
.pjit-inspector .flowing > .graphtree,
.pjit-inspector .flowing > .graphfoot,
.pjit-inspector .flowing > .graphbar > :not(.flowkeep) {
  display: none;
}
.flow .argument rect,
.flow .result rect {
  fill: var(--bg);
  stroke: var(--rule);
}
.flow .axisname {
  fill: var(--c);
  font-weight: 600;
}
.flow :is(.beside, .minor) {
  font: 10px var(--code);
  fill: var(--dim);
}
`;var Go=`.pjit-inspector .mempane {
  flex: 1;
  min-height: 0;
  min-width: 0;
  display: flex;
  flex-direction: column;
  container: mem / inline-size;
  overflow-y: auto;
}
.pjit-inspector .mempane > * {
  flex: none;
}
.pjit-inspector .memtop {
  display: grid;
  gap: 3px;
  padding: 6px 10px 4px;
}
.pjit-inspector .memanswer {
  font-size: 13px;
  line-height: 18px;
}
.pjit-inspector .memfits {
  display: flex;
  flex-wrap: wrap;
  gap: 2px 18px;
}
.pjit-inspector .memfit {
  display: inline-flex;
  gap: 6px;
  align-items: center;
  font-size: 11px;
}
.pjit-inspector .memfit .track {
  width: 64px;
  height: 8px;
  border: 1px solid var(--line);
  border-radius: 2px;
}
.pjit-inspector .memfit .fill {
  background: var(--mem-3);
  border-radius: 0;
}
.pjit-inspector .memfit.hatched .fill {
  background: repeating-linear-gradient(135deg, var(--mem-3) 0 2px, transparent 2px 4px);
}
.pjit-inspector .memfit.over .fill {
  background-color: var(--note);
}
.pjit-inspector .memfit.over b {
  color: var(--note);
}
.pjit-inspector .membar,
.pjit-inspector .memviews {
  display: flex;
  flex-wrap: wrap;
  gap: 2px 10px;
  align-items: center;
  padding: 2px 10px;
}
.pjit-inspector .membar {
  align-items: start;
}
.pjit-inspector .memlegend {
  flex: 1;
  display: flex;
  flex-wrap: wrap;
  gap: 1px 12px;
  font-size: 11px;
  min-width: 0;
}
.pjit-inspector .memchoices {
  display: flex;
  gap: 10px;
  flex: none;
}
.pjit-inspector .memchoices .button {
  padding: 0 6px;
}
.pjit-inspector .memchoices .button + .button {
  margin-left: 3px;
}
.pjit-inspector .swatch {
  display: inline-block;
  width: 10px;
  height: 10px;
  margin-right: 4px;
  border-radius: 2px;
  background: var(--m);
  vertical-align: -1px;
  forced-color-adjust: none;
}
.pjit-inspector .memcurve {
  position: relative;
  overflow: hidden;
  cursor: crosshair;
  touch-action: pan-y;
  user-select: none;
}
.pjit-inspector .memcurve canvas {
  position: absolute;
  inset: 0;
  display: block;
}
.pjit-inspector .memviews {
  border-top: 1px solid var(--rule);
  border-bottom: 1px solid var(--rule);
  padding: 0 10px 0 0;
}
.pjit-inspector .memviews .tabs {
  flex-wrap: wrap;
  height: auto;
  min-height: 32px;
  min-width: 0;
}
.pjit-inspector .memcount {
  margin-left: auto;
  font-size: 11px;
}
.pjit-inspector .mempane > .memtable {
  flex: 1 0 150px;
  overflow: auto;
  position: relative;
  contain: layout paint;
}
.pjit-inspector .memrow {
  display: grid;
  grid-template-columns: 10px minmax(120px, 1fr) 122px minmax(90px, 0.5fr) 62px 66px 118px;
  gap: 8px;
  align-items: center;
  min-height: 24px;
  padding: 1px 10px;
  border-bottom: 1px solid var(--rule);
  cursor: pointer;
}
.pjit-inspector .memrow > span {
  min-width: 0;
  overflow: hidden;
  text-overflow: ellipsis;
  white-space: nowrap;
}
.pjit-inspector .memhead {
  position: sticky;
  top: 0;
  z-index: 1;
  background: var(--bg);
  color: var(--dim);
  font-size: 11px;
  cursor: default;
}
.pjit-inspector .memhead .code {
  font-family: inherit;
}
.pjit-inspector .memname .dim {
  font-size: 11px;
}
.pjit-inspector .memrow .figure {
  text-align: right;
}
.pjit-inspector .memrow .memkind,
.pjit-inspector .memrow .memeach {
  font-size: 11px;
}
.pjit-inspector .memlist .memrow:hover {
  background: var(--hover);
}
.pjit-inspector .memlist .memrow[aria-selected="true"] {
  background: var(--picked);
  box-shadow: inset 3px 0 var(--select);
}
.pjit-inspector .memlife svg {
  display: block;
}
.pjit-inspector .memlife .ground {
  stroke: var(--rule);
}
.pjit-inspector .memlife .span {
  fill: var(--m);
  stroke: var(--line);
  stroke-width: 0.5;
}
.pjit-inspector .memlife .pin {
  stroke: var(--select);
}
.pjit-inspector .memmap {
  position: relative;
  margin: 2px 10px;
}
.pjit-inspector .mapcell,
.pjit-inspector .maptitle,
.pjit-inspector .maprest {
  position: absolute;
  overflow: hidden;
  white-space: nowrap;
  text-overflow: ellipsis;
  font-size: 11px;
  line-height: 15px;
}
.pjit-inspector .mapcell {
  display: flex;
  flex-direction: column;
  padding: 1px 4px;
  cursor: pointer;
  color: var(--text);
  background: color-mix(in srgb, var(--m) 26%, var(--bg));
  border: 1px solid var(--m);
}
.pjit-inspector .mapcell > * {
  overflow: hidden;
  text-overflow: ellipsis;
  flex: none;
}
.pjit-inspector .mapcell:hover {
  background: color-mix(in srgb, var(--m) 42%, var(--bg));
}
.pjit-inspector .mapcell[aria-selected="true"] {
  outline: 2px solid var(--select);
  outline-offset: -2px;
}
.pjit-inspector .memhelp {
  margin: 6px 10px;
  padding-left: 16px;
  line-height: 18px;
  overflow-wrap: anywhere;
}
.pjit-inspector .maprest {
  background: var(--mem-rest);
}
.pjit-inspector .nospec .memspec {
  display: none;
}
.pjit-inspector .nospec .memrow {
  grid-template-columns: 10px minmax(120px, 1fr) 122px 62px 66px 118px;
}
@container mem (max-width: 780px) {
  .pjit-inspector .nospec .memrow {
    grid-template-columns: 10px minmax(90px, 1fr) 66px 118px;
  }
  .pjit-inspector .memrow {
    grid-template-columns: 10px minmax(90px, 1fr) minmax(80px, 0.6fr) 66px 118px;
  }
  .pjit-inspector .memrow .memkind,
  .pjit-inspector .memrow .memeach {
    display: none;
  }
}
@container mem (max-width: 440px) {
  .pjit-inspector .memrow {
    grid-template-columns: 10px minmax(90px, 1fr) 66px 118px;
  }
  .pjit-inspector .memrow .memspec {
    display: none;
  }
}
@media (forced-colors: active) {
  .pjit-inspector .memlist .memrow[aria-selected="true"] {
    outline: 2px solid Highlight;
    outline-offset: -2px;
  }
  .pjit-inspector .memlife .span,
  .pjit-inspector .mapcell,
  .pjit-inspector .memfit .fill {
    forced-color-adjust: none;
  }
}
`;var Vo=`.pjit-inspector .graph {
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
}
.pjit-inspector .graphbar .search {
  flex: 1 1 140px;
  min-width: 56px;
  max-width: 280px;
  padding: 2px 6px;
  background: var(--bg);
  border: 1px solid var(--line);
  border-radius: 4px;
  font-size: 11px;
}
.pjit-inspector .viewmenu {
  display: grid;
  gap: 6px;
  padding: 8px;
  width: 330px;
  white-space: normal;
}
.pjit-inspector .graphbar .hits {
  color: var(--dim);
  font-size: 11px;
  white-space: nowrap;
}
.pjit-inspector .graphbar .push {
  margin-left: auto;
}
.pjit-inspector .graphview {
  flex: 1;
  min-height: 0;
  display: flex;
  position: relative;
}
.pjit-inspector .graphview > canvas {
  position: absolute;
  top: 0;
  left: 0;
}
.pjit-inspector .graphbox {
  flex: 1;
  min-width: 0;
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
.pjit-inspector .graphview canvas {
  display: block;
  cursor: default;
  touch-action: pan-x pan-y;
}
.pjit-inspector .graphview canvas.link {
  cursor: pointer;
}
.pjit-inspector .graphview canvas.grab {
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
.pjit-inspector .graphfoot .swatch {
  display: inline-block;
  width: 9px;
  height: 9px;
  border-radius: 2px;
  background: var(--c);
  margin-right: 4px;
  forced-color-adjust: none;
}
.pjit-inspector .graphbar .hits:empty,
.pjit-inspector .graphfoot:empty {
  display: none;
}
`;var Yo=`.pjit-inspector .schedule {
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
`;var Jo=`.pjit-inspector .timepane {
  overflow-y: auto;
  min-height: 0;
  padding: 10px 12px 14px;
  display: grid;
  gap: 14px;
  align-content: start;
  --limit-0: #454c55;
  --limit-1: #7d8590;
  --limit-2: #b9c0c9;
}
.pjit-inspector .timepane[hidden] {
  display: none;
}
@media (prefers-color-scheme: dark) {
  :root:not([data-theme="light"]) .pjit-inspector:not(.light) .timepane {
    --limit-0: #c3cad3;
    --limit-1: #838c98;
    --limit-2: #4c545e;
  }
}
:root[data-theme="dark"] .pjit-inspector .timepane,
.pjit-inspector.dark .timepane {
  --limit-0: #c3cad3;
  --limit-1: #838c98;
  --limit-2: #4c545e;
}
.pjit-inspector .timepane .ph-none {
  --p: var(--line);
}
.pjit-inspector .timepane .ph-0 {
  --p: var(--ph-0);
}
.pjit-inspector .timepane .ph-1 {
  --p: var(--ph-1);
}
.pjit-inspector .timepane .ph-2 {
  --p: var(--ph-2);
}
.pjit-inspector .timepane .ph-3 {
  --p: var(--ph-3);
}
.pjit-inspector .timepane .limit-0 {
  --p: var(--limit-0);
}
.pjit-inspector .timepane .limit-1 {
  --p: var(--limit-1);
}
.pjit-inspector .timepane .limit-2 {
  --p: var(--limit-2);
}
.pjit-inspector .timepane .rest {
  --p: var(--line);
}
.pjit-inspector .timepane .waits {
  --p: var(--note);
}
.pjit-inspector .timepanel {
  display: grid;
  gap: 6px;
  min-width: 0;
}
.pjit-inspector .timepane h2.minor {
  color: var(--text);
  font-size: 12px;
}
.pjit-inspector .timepane h2.minor span {
  color: var(--dim);
  font-weight: 400;
}
.pjit-inspector .timepair {
  display: grid;
  grid-template-columns: repeat(auto-fit, minmax(min(100%, 300px), 1fr));
  gap: 14px 32px;
}
.pjit-inspector .timepair .timepanel {
  align-content: start;
}
.pjit-inspector .timerows {
  display: grid;
  grid-template-columns: max-content minmax(24px, 1fr) max-content max-content;
  gap: 3px 10px;
  align-items: center;
}
.pjit-inspector .timerows .number {
  text-align: right;
  font-weight: 600;
}
.pjit-inspector .timerows .saved {
  text-align: right;
}
.pjit-inspector .timerows .line i {
  display: block;
  height: 9px;
  background: var(--line);
}
.pjit-inspector .timerows.bound dt:nth-of-type(n + 2) ~ .line i {
  background: repeating-linear-gradient(135deg, var(--line) 0 2px, transparent 2px 4px);
  box-shadow: inset 0 0 0 1px var(--line);
}
.pjit-inspector .timebar {
  display: grid;
  grid-template-columns: 66px minmax(0, 1fr);
  align-items: center;
  gap: 2px 0;
}
.pjit-inspector .timebar .key {
  grid-column: 2;
}
.pjit-inspector .timebar .stack {
  display: flex;
  height: 24px;
  background: var(--panel);
  overflow: hidden;
}
.pjit-inspector .timebar .stack > i {
  background: var(--p);
  color: var(--bg);
  font-style: normal;
  font-size: 11px;
  line-height: 24px;
  text-align: center;
  white-space: nowrap;
  overflow: hidden;
  box-shadow: inset -1px 0 0 var(--bg);
}
.pjit-inspector .timebar .stack > .waits,
.pjit-inspector .timepane .key .waits {
  background: repeating-linear-gradient(135deg, var(--note) 0 2px, var(--bg) 2px 4px);
}
.pjit-inspector .timebar .stack > .waits span {
  background: var(--bg);
  color: var(--note);
  padding: 1px 4px;
}
.pjit-inspector .timebar .stack > .limit-2 {
  color: var(--text);
}
.pjit-inspector .timepane .key {
  display: flex;
  flex-wrap: wrap;
  gap: 2px 14px;
}
.pjit-inspector .timepane .key i {
  display: inline-block;
  width: 10px;
  height: 10px;
  margin-right: 5px;
  background: var(--p);
  vertical-align: -1px;
}
.pjit-inspector .strips {
  display: grid;
  gap: 12px;
  min-width: 0;
}
.pjit-inspector .strips > section {
  min-width: 0;
}
.pjit-inspector .stripbar {
  display: flex;
  flex-wrap: wrap;
  gap: 4px 12px;
  align-items: center;
}
.pjit-inspector .stripbar > :last-child:not(:first-child) {
  margin-left: auto;
}
.pjit-inspector .stripbox {
  overflow: hidden;
}
.pjit-inspector .timestrip {
  display: block;
  font: 11px var(--ui);
}
.pjit-inspector .timestrip text {
  fill: var(--text);
}
.pjit-inspector .timestrip .lane.axis {
  fill: var(--c);
}
.pjit-inspector .timestrip .ground {
  fill: var(--panel);
}
.pjit-inspector .timestrip .piece.kernel {
  fill: var(--p);
}
.pjit-inspector .timestrip .piece.edged {
  stroke: var(--bg);
  stroke-width: 0.6;
}
.pjit-inspector .timestrip .piece.transfer {
  fill: var(--c);
}
.pjit-inspector .timestrip .piece.copy {
  fill: var(--line);
}
.pjit-inspector .timestrip .piece:hover {
  stroke: var(--select);
  stroke-width: 2;
}
.pjit-inspector .timestrip .piece {
  cursor: pointer;
}
.pjit-inspector .timestrip .inside,
.pjit-inspector .timestrip .loopwords,
.pjit-inspector .timestrip .tickwords {
  text-anchor: middle;
  pointer-events: none;
}
.pjit-inspector .timestrip .inside {
  fill: var(--bg);
}
.pjit-inspector .timestrip .inside.wait {
  fill: var(--note);
  font-weight: 600;
  paint-order: stroke;
  stroke: var(--bg);
  stroke-width: 4px;
}
.pjit-inspector .timestrip .loop {
  fill: none;
  stroke: var(--select);
  stroke-width: 1.5;
  pointer-events: none;
}
.pjit-inspector .timestrip .loopwords {
  pointer-events: auto;
  cursor: pointer;
  font-weight: 600;
}
.pjit-inspector .timestrip .tick {
  stroke: var(--line);
}
.pjit-inspector .timestrip .tickwords {
  fill: var(--dim);
}
.pjit-inspector .timestrip .back {
  fill: var(--bg);
}
.pjit-inspector .timestrip path.pjit-wait {
  stroke: var(--note);
  stroke-width: 2;
}
.pjit-inspector .timestrip path.pjit-copies {
  stroke: var(--line);
  stroke-width: 2;
}
.pjit-inspector .timetable,
.pjit-inspector .roofline {
  overflow-x: auto;
}
.pjit-inspector .timetable table {
  width: 100%;
}
.pjit-inspector .timetable :is(th, td) {
  padding: 3px 8px 3px 0;
  white-space: nowrap;
  border-bottom: 1px solid var(--rule);
}
.pjit-inspector .timetable th {
  color: var(--dim);
}
.pjit-inspector .timetable td code {
  overflow-wrap: normal;
}
.pjit-inspector .timetable th:last-child {
  padding-right: 80px;
}
.pjit-inspector .timetable td:last-child {
  width: 100%;
  max-width: 0;
  overflow: hidden;
  text-overflow: ellipsis;
}
.pjit-inspector .timetable .right {
  text-align: right;
}
.pjit-inspector .timetable tbody tr:hover {
  background: var(--hover);
}
.pjit-inspector .timetable tbody tr {
  cursor: pointer;
}
.pjit-inspector .roofline img {
  display: block;
  max-width: none;
}
`;var Zo=`.pjit-inspector,
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
`;var xp=`
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
track #eef0f2 #262a30`,sr=xp.trim().split(`
`).map(e=>e.split(" ")),lt=e=>sr.map(t=>t[e]&&t[e]!=="-"?`--${t[0]}:${t[e]};`:"").join(""),Es=":root:not([data-theme=light])",[gp,Qo]=["dark","light"].map(e=>`.pjit-inspector.pjit-inspector.${e}`),tr=`:root[data-theme=dark] .pjit-inspector,${gp}`,bp=`${Es},${Es} .pjit-inspector,:host .pjit-inspector`,er="@media (prefers-contrast:more)",vp={ax:"c",mem:"m",scope:"m"},yp=sr.map(([e])=>[e,vp[e.split("-")[0]]]).filter(([,e])=>e).map(([e,t])=>`.${e}{--${t}:var(--${e})}`),ir=`
${yp.join("")}
:root,.pjit-inspector{${lt(1)}color-scheme:light dark}
@media (prefers-color-scheme:dark){${bp}{${lt(2)}}}
:root[data-theme=light],${Qo}{${lt(1)}color-scheme:light}
:root[data-theme=dark],${tr}{${lt(2)}color-scheme:dark}
${er}{:root,.pjit-inspector.pjit-inspector,${Qo}{${lt(3)}}${tr}{${lt(4)}}}
${er} and (prefers-color-scheme:dark){${Es} .pjit-inspector.pjit-inspector:not(.light),:host .pjit-inspector.pjit-inspector:not(.light){${lt(4)}}}
@media (forced-colors:active){.pjit-inspector.pjit-inspector.pjit-inspector{${lt(5)}}}
`;var nr=`.pjit-inspector .floating {
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
`;var or=[ir,Zo,nr,Yo,Xo,Vo,Go,Jo,qo].join(`
`);function rr(e){let t=()=>e.tell("theme"),s=["(prefers-color-scheme: dark)","(prefers-contrast: more)","(forced-colors: active)"].map(i=>matchMedia(i));return s.forEach(i=>i.addEventListener("change",t)),()=>s.forEach(i=>i.removeEventListener("change",t))}function ar(e,t,s){let i=new ResizeObserver(()=>{if(!e.clientWidth)return;i.disconnect();let n={need:()=>zo(e,t),isTall:()=>t.isNarrow()||t.graphNeed().isFlow},o=()=>{Io(e,n,s),requestAnimationFrame(()=>t.tell("height"))};requestAnimationFrame(()=>requestAnimationFrame(o))});i.observe(e)}function $p({model:e,el:t}){let{root:s,unwatch:i}=Uo(t,or,()=>n.tell("theme"));s.classList.add("inset");let n=Os(s,JSON.parse(e.get("_first"))),o=rr(n),r=!1,a=!1,l=m=>Cs(new Uint8Array(m.buffer,m.byteOffset,m.byteLength)),c=()=>{r=!0,n.selectName(e.get("selection")),r=!1},h=async()=>{let m=e.get("_blob");if(!m?.byteLength)return;let x=await l(m);a||(r=!0,n.open(x),c(),ar(s,n,Ro(s)),s.setAttribute("data-ready","true"))},d=()=>{let m=e.get("_advice");m&&n.setAdvice(JSON.parse(m))},f=null,u=()=>{let m=e.get("_memory");m?.byteLength&&(f?.(m),f=null)};n.readMemory=async()=>l(await new Promise(m=>{f=m,e.get("_memory")?.byteLength||e.send({type:"memory"}),u()})),n.ask=m=>e.send(m),n.listen(m=>{let x=n.selectionName();!m.has("selection")||r||!n.data||x===e.get("selection")||(e.set("selection",x),e.save_changes())}),d();let w=Ko(e,{"change:_advice":d,"change:_memory":u,"change:_blob":h,"change:selection":c});return h(),e.send({type:"drawn"}),()=>{a=!0,[o,i,w].forEach(m=>m())}}Ho(or,(e,t,s)=>{let i=parent!==window;i&&e.classList.add("inset");let n=Os(e,t);return document.getElementById("pjit-memory")&&(n.readMemory=()=>s("pjit-memory")),addEventListener("message",o=>{i&&o.source===parent&&Array.isArray(o.data?.pjitAdvice?.rows)&&n.setAdvice(o.data.pjitAdvice)}),i&&parent.postMessage({pjitInspect:{isListening:!0}},"*"),o=>{n.open(o),i&&No(r=>ar(e,n,r)),Do(n),rr(n)}});var sx={render:$p};export{sx as default};
