var bo="http://www.w3.org/2000/svg",ws={ArrowDown:1,ArrowRight:1,ArrowUp:-1,ArrowLeft:-1};function bs(e,t,s){for(let[n,i]of Object.entries(t))if(!(i==null||i===!1))if(n.startsWith("on"))e.addEventListener(n.slice(2),i);else if(n==="style")for(let[o,r]of Object.entries(i))e.style.setProperty(o,String(r));else e.setAttribute(n,i===!0?"":String(i));return e.append(...s.flat(1/0).filter(n=>n!=null&&n!==!1)),e}function p(e,t={},...s){return bs(document.createElement(e),t,s)}function M(e,t={},...s){return bs(document.createElementNS(bo,e),t,s)}function W(e,t,s){return s?e.key in ws?Math.max(0,Math.min(s-1,t+ws[e.key])):e.key==="Home"?0:e.key==="End"?s-1:null:null}function V(e,t,s,n){let i=t.map(([a,l])=>p("button",{type:"button",role:"tab","data-tab":a,onclick:()=>n(a)},l)),o=p("div",{class:"tabs",role:"tablist","aria-label":e,onkeydown:a=>{let l=W(a,t.findIndex(([c])=>c===s()),t.length);l!==null&&(a.preventDefault(),n(t[l][0]),i[l].focus())}},i),r=()=>{t.forEach(([a],l)=>{i[l].setAttribute("aria-selected",String(a===s())),i[l].tabIndex=a===s()?0:-1})};return r(),{bar:o,update:r}}function Q(e){let t=!1;return()=>{t||(t=!0,requestAnimationFrame(()=>{t=!1,e()}))}}var ys={B:1,KiB:1024,MiB:1048576,GiB:1073741824,TiB:1099511627776,PiB:0x4000000000000};function yo(e){return e<2**10?"B":e<2**20?"KiB":e<10*2**30?"MiB":e<10*2**40?"GiB":e<10*2**50?"TiB":"PiB"}function k(e){let t=yo(e),s=e/ys[t];return Number.isInteger(s)||s>=99.95?`${b(ks(s))} ${t}`:`${vs(s,s>=9.995?1:2)} ${t}`}function vs(e,t){let s=10**t,n=Math.floor(e*s);return(n+.5)/s===e&&n%2===0?(n/s).toFixed(t):e.toFixed(t)}function ks(e){let t=Math.floor(e);return e-t!==.5?Math.round(e):t%2?t+1:t}function b(e){return String(e).replace(/\B(?=(\d{3})+(?!\d))/g,",")}function S(e,t){return`${b(e)} ${t}${e===1?"":"s"}`}function Rt(e,t){let s=[];for(let o of[...e].sort((r,a)=>r-a)){let r=s[s.length-1];r&&o===r[1]+1?r[1]=o:s.push([o,o])}let n=t===void 0?s:s.slice(0,t);return n.map(([o,r])=>r-o>1?`${o}-${r}`:r>o?`${o} ${r}`:`${o}`).join(" ")+(n.length<s.length?" ...":"")}function tt(e){let[t,s]=e<999.5?[1,"\xB5s"]:e<999500?[1e3,"ms"]:[1e6,"s"],n=e/t,i=n>=99.95?0:n>=9.995?1:2;return`${i?vs(n,i):b(ks(n))} ${s}`}function ft(e){let t=Math.min(5,Math.max(0,Math.floor(Math.log10(Math.max(1,e))/3))),s=e/1e3**t;return`${s>=100?b(Math.round(s)):Number(s.toPrecision(3))} ${["","K","M","G","T","P"][t]}FLOP`}function yt(e){let t=Math.min(5,Math.floor(Math.log2(Math.max(1,e)*1.03)/10)),s=e/2**(10*t);return`${s>=9.95?Math.round(s):Number(s.toFixed(1))} ${Object.keys(ys)[t]}`}function rt(e){return`${Math.floor(100*e)}%`}var $s={"all-reduce":"M9.5 2.5H3l3.2 3.7L3 10h6.5","all-gather":"M1.8 1.8h8.4v8.4H1.8zM6 1.8v8.4M1.8 6h8.4","reduce-scatter":"M6 1.5v4M6 5.5L2 10M6 5.5l4 4.5M6 5.5V10","all-to-all":"M1.5 3h2.2l4.6 6h2.2M1.5 9h2.2l4.6-6h2.2M9 1.5L10.5 3 9 4.5M9 7.5L10.5 9 9 10.5","ragged-all-to-all":"M1.5 3h2.2l4.6 6h2.2M1.5 9h2.2l4.6-6h2.2","collective-permute":"M1.5 4h8M7.5 2l2 2-2 2M10.5 8h-8M4.5 6l-2 2 2 2","collective-broadcast":"M2 6h3M5 6l4-4M5 6h4.5M5 6l4 4",kernel:"M2 3h8v6H2z",array:"M2 2.5h8M2 6h8M2 9.5h8M2 2.5v7M10 2.5v7",line:"M2 3h8M2 6h5M2 9h7"};function q(e,t=""){let s=$s[e]??$s.kernel;return M("svg",{class:`glyph ${t}`,viewBox:"0 0 12 12",width:13,height:13,"aria-hidden":"true"},M("path",{d:s}))}function Nt(e){let t=e.tiles.map((n,i)=>i);t.sort((n,i)=>+(e.tiles[n]===1)-+(e.tiles[i]===1)||e.shape[i]-e.shape[n]||n-i);let s=t.slice(0,2).sort((n,i)=>n-i);return s.length===2?[s[0],s[1]]:[null,s.length?s[0]:null]}function vo(e,t){return Math.max(e,t)<=8?[1,1]:[Math.ceil(e/4),Math.ceil(t/4)]}function js(e,t){let s=new Array(t.length);for(let n=t.length-1;n>=0;n--)s[n]=e%t[n],e=Math.floor(e/t[n]);return s}function Ms(e,t=Nt(e),s=e.tiles.map(()=>0)){let[n,i]=t,o=f=>f===null?1:e.tiles[f],r=vo(o(n),o(i)),a=Math.ceil(o(n)/r[0]),l=Math.ceil(o(i)/r[1]),c=e.tiles.map((f,u)=>u).filter(f=>f!==n&&f!==i),h=Array.from({length:a*l},()=>[]);for(let f=0;f<e.devices.length;f++){let u=js(e.tileOf[f],e.tiles);if(c.some(x=>u[x]!==s[x]))continue;let m=n===null?0:Math.floor(u[n]/r[0]),g=i===null?0:Math.floor(u[i]/r[1]);h[m*l+g].push(e.devices[f])}let d=h.map((f,u)=>({row:Math.floor(u/l),column:u%l,devices:f.sort((m,g)=>m-g)}));return{rowDim:n,columnDim:i,rows:a,columns:l,perBlock:r,depthDims:c,blocks:d}}function Ss(e,t){let s=ko(e,t);return s==="all"?[s]:s.split(", ").filter(n=>n!==":")}function ko(e,t){let s=js(e,t.tiles),n=t.shape.map((i,o)=>{let r=Math.ceil(i/t.tiles[o]),[a,l]=[Math.min(s[o]*r,i),Math.min((s[o]+1)*r,i)];return a===0&&l===i?":":`${a}:${l}`});return n.every(i=>i===":")?"all":n.join(", ")}function O(e,t){if(!e||!e.length)return"ax-none";if(e.length>1)return"ax-many";let s=t.indexOf(e[0].split(":(")[0]);return s<0||s>3?"ax-many":`ax-${s}`}function A(e,t){return e.map(s=>$o(s,t))}function $o(e,t){return typeof e=="string"?e:"strong"in e&&typeof e.strong=="string"?p("b",{},e.strong):"dim"in e?p("span",{class:"dim"},e.dim):"name"in e?p("b",{class:"code"},e.name):"code"in e?p("code",{},e.code):"axis"in e?jo(e.axis,e.axes,e.size,t):"number"in e?Mo(e):""}function jo(e,t,s,n){return p("span",{class:`axis ${O(t,n)}`},s===null?e:`${e} ${s}`)}function Mo(e){let t=e.unit?`${e.number}\xA0${e.unit}`:e.number,s=e.how==="counted"||!e.unit?void 0:e.how;return p(e.strong?"b":"span",{title:s},t)}var So=0;function at(e,t,s){let n=e.header.shardings[t];if(!n)return null;let i=e.column("shardings.ends"),[o,r]=[t?i[t-1]:0,i[t]];return{shape:s,tiles:n.tiles,spec:n.spec,copies:n.copies,partial:n.partial,devices:e.column("sharding_devices").subarray(o,r),tileOf:e.column("sharding_tiles").subarray(o,r)}}function It(e,t){let s=Ms(e,t.dims??Nt(e),t.behind),{width:n,height:i}=Eo(e,s,t.width??220),o=s.depthDims.length?9:0,r=e.isPartial||e.partial.length>0,a=r?2:Math.min(3,e.copies-1),l=Math.max(22,6+5.8*Os(e,s).length),c=20+o,h=o+a*3.5+2,d=O([...new Set(vt(e,s.rowDim).concat(vt(e,s.columnDim)))],t.axes),f=O(e.partial,t.axes),u=[];o&&u.push(M("path",{class:"edge",d:`M0 0l${o} ${-o}h${n}l${-o} ${o}M${n} ${i}l${o} ${-o}v${-i}`}));for(let j=a;j>0;j--){let B=o+j*3.5;u.push(M("rect",{class:r?`copy partial ${f}`:"copy",x:B,y:B-2*o,width:n,height:i}))}let m=`pjit-hatch-${So++}`,g=r||e.copies>1;g&&u.unshift(Oo(m,r?f:""));let[x,w]=[n/s.columns,i/s.rows],y=s.blocks.length-1||1;s.blocks.forEach((j,B)=>{let[P,I]=[j.column*x,j.row*w],Z=t.device!==void 0&&t.device!==null&&j.devices.includes(t.device),Pt=s.blocks.length===1?.3:.22+.5*B/y;u.push(M("rect",{class:j.devices.length?`block ${d}`:"block empty",x:P,y:I,width:x,height:w,"fill-opacity":Pt})),g&&j.devices.length&&u.push(M("rect",{x:P,y:I,width:x,height:w,fill:`url(#${m})`})),Z&&u.push(M("rect",{class:"ring",x:P+1,y:I+1,width:x-2,height:w-2})),j.devices.length&&u.push(Ao(P+x/2,I+w/2,To(j.devices,x-6),Z))}),u.push(...Co(e,s,n,i,o,t.axes));let $=Math.max(0,a*3.5-o)+3,v=[-l,-c,l+n+h+(s.depthDims.length?6:0),c+i+$];return M("svg",{class:"shards",viewBox:v.join(" "),width:v[2],height:v[3],role:"img","aria-label":t.label},u)}function Oo(e,t){return M("pattern",{id:e,width:5,height:5,patternUnits:"userSpaceOnUse",patternTransform:"rotate(45)"},M("path",{class:`hatch ${t}`,d:"M1 0V5"}))}function Ao(e,t,s,n){let i=s.length*6.2+6;return M("g",{},M("rect",{class:"label",x:e-i/2,y:t-7,width:i,height:14,rx:2}),M("text",{x:e,y:t+3.7,"font-weight":n?600:400},s))}function To(e,t){for(let s of[void 0,3,2,1]){let n=Rt(e,s);if(n.length*6.2+6<=t)return n}return String(e[0])}function vt(e,t){return t===null||!e.spec||e.tiles[t]===1?[]:e.spec[t]}function Eo(e,t,s){if(t.columnDim===null)return{width:44,height:30};let n=Math.max(...t.blocks.map(l=>Rt(l.devices,2).length))*6.2+12,i=t.columns*Math.min(t.columns<=4?60:30,n);if(t.rowDim===null)return{width:Math.min(Math.max(100,i),s),height:28};let o=(e.shape[t.columnDim]||1)/(e.shape[t.rowDim]||1),r=Math.exp(Math.max(-.5,Math.min(.5,Math.log(o)/4))),a=Math.max(62/r,t.rows*(t.rows<=4?20:16.5),44);return{width:Math.min(Math.max(86*r,i,52),s),height:a}}function Co(e,t,s,n,i,o){let r=[];for(let[a,l]of[[t.columnDim,!0],[t.rowDim,!1]]){if(a===null)continue;let c=vt(e,a),h=O(c,o),[d,f]=l?[s,t.columns]:[n,t.rows];if(e.tiles[a]>1){let w=d/f,$=Array.from({length:f},(v,j)=>[j*w+1.2,(j+1)*w-1.2]).map(([v,j])=>l?`M${v} ${-i-3}H${j}`:`M-3 ${v}V${j}`).join("");r.push(M("path",{class:`ruler ${h}`,d:$,transform:l?`translate(${i} 0)`:void 0}))}let u=c.length?`${e.shape[a]} ${c.join(" ")}`:e.tiles[a]>1&&e.tiles[a]<e.shape[a]?`${e.shape[a]} / ${e.tiles[a]}`:String(e.shape[a]),g=u.length<=3?{x:-12,y:n/2+4}:{x:-9,y:n/2,transform:`rotate(-90 -9 ${n/2})`},x=l?{x:(s+i)/2,y:-i-8}:g;r.push(M("text",{class:`dim ${h}`,...x},u))}if(t.depthDims.length){let a=Os(e,t),l=t.depthDims.flatMap(c=>vt(e,c));r.push(M("text",{class:`dim depth ${O(l,o)}`,x:-4,y:-i+1,"text-anchor":"end"},a))}return r}var Os=(e,t)=>t.depthDims.map(s=>[e.shape[s],...vt(e,s)].join(" ")).join(" \xD7 ");function Wt(e,t){let s=Nt(e),n=e.tiles.map(()=>0),i=p("div",{class:"picture"}),o=()=>i.replaceChildren(It(e,{...t,dims:s,behind:n}));if(o(),e.tiles.length<3)return p("div",{},i);let r=(f,u)=>{let m=p("select",{"aria-label":u,onchange:()=>{let g=Number(m.value),x=s[1-f];s=f===0?[g,x===g?s[0]:x]:[x===g?s[1]:x,g],h()}},e.shape.map((g,x)=>p("option",{value:x},`${x}: ${g}`)));return m},[a,l]=[r(0,"Dimension drawn down"),r(1,"Dimension drawn across")],c=p("div",{class:"sliders"}),h=()=>{a.value=String(s[0]),l.value=String(s[1]),n.fill(0),c.replaceChildren(...e.tiles.map((f,u)=>f>1&&!s.includes(u)?d(u,f):null).filter(f=>f!==null)),o()},d=(f,u)=>{let m=p("span",{class:"dim"},`1 of ${u}`),g=p("input",{type:"range",min:0,max:u-1,value:0,"aria-label":`Piece of dimension ${f}`,oninput:()=>{n[f]=Number(g.value),m.textContent=`${n[f]+1} of ${u}`,o()}});return p("label",{},`piece of ${f} `,g,m)};return h(),p("div",{},i,p("div",{class:"picker"},p("label",{},"down ",a),p("label",{},"across ",l)),c)}var Lo=[3,4,5,6,7,8,9,10,11,13,15,17,19,23,27,31,35,43,51,59,67,83,99,115,131,163,195,227,258],zo=[0,0,0,0,0,0,0,0,1,1,1,1,2,2,2,2,3,3,3,3,4,4,4,4,5,5,5,5,0],Bo=[1,2,3,4,5,7,9,13,17,25,33,49,65,97,129,193,257,385,513,769,1025,1537,2049,3073,4097,6145,8193,12289,16385,24577],_o=[16,17,18,0,8,7,9,6,10,5,11,4,12,3,13,2,14,1,15];function kt(e){let t=new Array(16).fill(0);for(let n of e)t[n]++;t[0]=0;let s=[];for(let n=1;n<16;n++)for(let i=0;i<e.length;i++)e[i]===n&&s.push(i);return{counts:t,symbols:s}}var ue=class{constructor(t,s){this.bytes=t,this.at=s,this.held=this.count=0}take(t){for(;this.count<t;){if(this.at>=this.bytes.length)throw new Error("the data end too soon");this.held|=this.bytes[this.at++]<<this.count,this.count+=8}let s=this.held&(1<<t)-1;return this.held>>>=t,this.count-=t,s}symbol({counts:t,symbols:s}){let[n,i,o]=[0,0,0];for(let r=1;r<16;r++){n|=this.take(1);let a=t[r];if(n-i<a)return s[o+n-i];o+=a,i=i+a<<1,n<<=1}throw new Error("the data are damaged")}},Po=[kt(Array.from({length:288},(e,t)=>t<144?8:t<256?9:t<280?7:8)),kt(new Array(30).fill(5))];function Ro(e){let[t,s,n]=[e.take(5)+257,e.take(5)+1,e.take(4)+4],i=new Array(19).fill(0);for(let a=0;a<n;a++)i[_o[a]]=e.take(3);let o=kt(i),r=[];for(;r.length<t+s;){let a=e.symbol(o);if(a<16)r.push(a);else{let l=a===16?r[r.length-1]:0,c=a===16?3+e.take(2):a===17?3+e.take(3):11+e.take(7);for(let h=0;h<c;h++)r.push(l)}}return[kt(r.slice(0,t)),kt(r.slice(t))]}function As(e){let t=new ue(e,2),s=new Uint8Array(4*e.length+1024),n=0,i=o=>{if(n+o<=s.length)return;let r=new Uint8Array(2*(n+o));r.set(s),s=r};for(let o=0;!o;){o=t.take(1);let r=t.take(2);if(r===0){t.held=t.count=0;let c=t.take(16);t.take(16),i(c),s.set(e.subarray(t.at,t.at+c),n),t.at+=c,n+=c;continue}if(r===3)throw new Error("the data are damaged");let[a,l]=r===1?Po:Ro(t);for(let c=t.symbol(a);c!==256;c=t.symbol(a)){if(c<256){i(1),s[n++]=c;continue}let h=Lo[c-257]+t.take(zo[c-257]),d=t.symbol(l),f=Bo[d]+t.take(d<2?0:(d>>1)-1);if(f>n)throw new Error("the data are damaged");i(h);for(let u=0;u<h;u++,n++)s[n]=s[n-f]}}return s.slice(0,n).buffer}var No="PJITVIEW",Io={i4:Int32Array,u1:Uint8Array,u4:Uint32Array,f8:Float64Array,s4:Uint32Array},me=class{constructor(t,s){this.bytes=t,this.ends=s,this.length=s.length,this.decoder=new TextDecoder}at(t){let s=t?this.ends[t-1]:0;return this.decoder.decode(this.bytes.subarray(s,this.ends[t]))}longest(){let t=0;for(let s=0,n=0;s<this.length;n=this.ends[s++])t=Math.max(t,this.ends[s]-n);return t}};function $t(e){let t=new TextDecoder;if(t.decode(new Uint8Array(e,0,8))!==No)throw new Error("this is no inspector data");let[s,n]=new Uint32Array(e,8,2);if(s!==1)throw new Error(`inspector data of version ${s}; this page reads version 1`);let i=JSON.parse(t.decode(new Uint8Array(e,16,n))),o=16+n,r=new Set,a=h=>h in i.columns,l=h=>{if(!a(h))return new Int32Array(0);let[d,f,u]=i.columns[h],m=new Io[d](e,o+f,u);if(d!=="s4"||r.has(h))return m;r.add(h);for(let g=1;g<u;g++)m[g]+=m[g-1];return m};return{header:i,column:l,strings:h=>new me(l(h),l(`${h}.ends`)),has:a}}function E(e,t){return[t?e[t-1]:0,e[t]??0]}function ge(e){let t=atob(e.trim()),s=new Uint8Array(t.length);for(let n=0;n<t.length;n++)s[n]=t.charCodeAt(n);return s}async function jt(e){if(typeof DecompressionStream>"u")return As(e);let t=new Blob([e]).stream().pipeThrough(new DecompressionStream("deflate"));return await new Response(t).arrayBuffer()}var Ts=7,Wo="smaller, unnamed",Dt=class{constructor(t,s){this.blob=t;let{header:n}=t;this.header=n,this.spaces=n.spaces,this.kinds=n.kinds,this.kernels=n.kernels,this.hasCurve=n.kernels>0;let i=o=>t.column(o);this.groupOf=i("value.group"),this.kindOf=i("value.kind"),this.scopeOf=i("value.scope"),this.makerOf=i("value.maker"),this.userOf=i("value.user"),this.ends=i("value.ends"),this.from=i("span.from"),this.to=i("span.to"),this.rows=n.groups,this.rows.forEach(o=>Object.assign(o,{values:[],kernels:[],spots:[],own:null})),this.groupOf.forEach((o,r)=>this.rows[o].values.push(r));for(let o of this.rows){let r=l=>o.values.map(c=>l[c]);o.kernels=[...new Set([...r(this.makerOf),...r(this.userOf)])].filter(l=>l>=0);let a=r(this.makerOf).map(l=>s.data?.column("graph.kernel.spot")[l]??-1);o.spots=[...new Set(a)].filter(l=>l>=0),o.own=Do(o,this.makerOf[o.values[0]]??-1,s)}this.made=new Map}total(t){return this.blob.column(`bytes.${t}`)}spans(t){let[s,n]=E(this.ends,t);return Array.from({length:n-s},(i,o)=>[this.from[s+o],this.to[s+o]])}bands(t,s){let n=`${t} ${s}`,i=this.made.get(n);if(i)return i;let o=s==="kind"?this.kindParts():this.scopeParts(t),r=this.total(t).slice(),a=[];for(let{name:l,color:c,has:h}of o){let d=this.sum(t,h);d.some(Boolean)&&(d.forEach((f,u)=>r[u]-=f),a.push({name:l,color:c,bytes:d}))}return r.some(Boolean)&&a.push({name:Wo,color:"mem-rest",bytes:r}),this.made.set(n,a),a}kindParts(){return this.kinds.map((t,s)=>({name:t,color:`mem-${s}`,has:n=>this.kindOf[n]===s}))}scopeParts(t){let{peak:s,first:n,end:i}=this.spaces[t],o=new Map;for(let m=n;m<i;m++){let g=this.isAlive(m,s)?this.rows[this.groupOf[m]].bytes:0;o.set(this.scopeOf[m],(o.get(this.scopeOf[m])??0)+g)}let r=this.header.scopes,a=new Intl.Collator("en",{numeric:!0}),l=[...o.keys()].filter(m=>r[m]).sort((m,g)=>o.get(g)-o.get(m)),c=l.slice(0,Ts).sort((m,g)=>a.compare(r[m],r[g])),h=new Set(l.slice(Ts)),d=c.map((m,g)=>({name:r[m],color:`scope-${g}`,has:x=>this.scopeOf[x]===m})),f={name:"no scope",color:"mem-0",has:m=>!r[this.scopeOf[m]]},u={name:S(h.size,"other scope"),color:"mem-1",has:m=>h.has(this.scopeOf[m])};return[f,...d,u]}sum(t,s){let{first:n,end:i}=this.spaces[t],o=new Float64Array(this.kernels+1);for(let r=n;r<i;r++){if(!s(r))continue;let a=this.rows[this.groupOf[r]].bytes,[l,c]=E(this.ends,r);for(let h=l;h<c;h++)o[this.from[h]]+=a,o[this.to[h]+1]-=a}for(let r=1;r<o.length;r++)o[r]+=o[r-1];return o.subarray(0,this.kernels)}life(t){let{values:s}=this.rows[t],n=this.spaces.findIndex(({first:o,end:r})=>s[0]>=o&&s[0]<r),i=new Set(s);return this.sum(Math.max(0,n),o=>i.has(o))}isAlive(t,s){let[n,i]=E(this.ends,t);for(let o=n;o<i;o++)if(this.from[o]<=s&&s<=this.to[o])return!0;return!1}alive(t,s){let{first:n,end:i}=this.spaces[t],o=new Map;for(let r=n;r<i;r++)this.hasCurve&&!this.isAlive(r,s)||o.set(this.groupOf[r],(o.get(this.groupOf[r])??0)+1);return this.ranked(o)}all(t){let{first:s,end:n}=this.spaces[t],i=new Map;for(let o=s;o<n;o++)i.set(this.groupOf[o],(i.get(this.groupOf[o])??0)+1);return this.ranked(i)}ranked(t){return[...t].map(([s,n])=>({group:s,count:n,bytes:n*this.rows[s].bytes})).sort((s,n)=>n.bytes-s.bytes||s.group-n.group)}extent(t){let s=this.rows[t].values.flatMap(n=>this.spans(n));return s.length?[Math.min(...s.map(([n])=>n)),Math.max(...s.map(([,n])=>n))]:null}};function Do(e,t,s){let n=t<0?-1:s.data?.column("graph.kernel.entity")[t]??-1;if(n>=0)return{type:n%2?"kernel":"collective",row:n>>1};let i=s.rows("arrays").findIndex(o=>o.role==="input"&&(o.name===e.name||o.names.includes(e.name)));return i<0?null:{type:"array",row:i}}function Es(e,t){let n=e.rows[t].values.map(r=>e.spans(r).reduce((a,[l,c])=>a+c-l+1,0)),[i,o]=[Math.min(...n),Math.max(...n)];return!e.hasCurve||!o?"":i===e.kernels?`all ${S(e.kernels,"kernel")}`:i===o?S(o,"kernel"):`${b(i)} to ${S(o,"kernel")}`}function Ls(e,{numbers:t,placeLink:s}){let n=e.selected,i=e.memory,{first:o,state:r}=e,a=i.kinds[n.kind],l=at(i.blob,n.sharding,n.shape),c=i.spaces[0].peak,h=i.alive(0,c).find(u=>u.group===r.selection?.row),d=h&&i.hasCurve?h.bytes/i.total(0)[c]:0,f=i.header.source;return[p("h2",{class:"code"},p("bdi",{},n.name)),p("p",{class:"sub"},p("span",{class:`swatch mem-${n.kind}`}),` ${[a,n.number>1&&S(n.number,"buffer"),n.layers&&`layers ${n.layers}`].filter(Boolean).join(", ")}`),l?Wt(l,{axes:o.axes,device:r.device,label:`${n.name}: ${n.array}, ${n.spec}`}):"",p("p",{class:"small"},n.spec==="not known"?p("span",{class:"dim"},"Its spec is not known. "):[p("code",{},n.spec),n.array?[" of ",p("code",{},n.array)]:"",". "],p("code",{},n.local)," on each device."),t([...n.unpadded?[["its elements",n.unpadded,"counted"]]:[],["each, on one device",n.each,n.unpadded?"with padding":f],...n.number>1?[[`all ${b(n.number)}`,k(n.number*n.bytes),f]]:[],...h?[["at the peak",k(h.bytes),d?`${f}, ${rt(d)}`:f]]:[["at the peak","none",f]]]),...Fo(e,i,n),...n.place?[p("h3",{},"Source"),p("p",{},s(e,n.place))]:[],...qo(n)]}function Fo(e,t,s){let n=Es(t,e.state.selection?.row??0);if(!n)return[];let i=s.values[0],o=["argument","optimizer state"].includes(t.kinds[s.kind]),r=[o?p("li",{},"an argument: there from the beginning"):null,Cs(e,"made by",t.makerOf[i],s.names[0],s.made,o),Cs(e,"last used by",t.userOf[i],s.users[0],s.last)].filter(Boolean),a=s.turns?[p("li",{},`${b(s.turns)} turns of a loop each write a part of it`)]:[];return[p("h3",{},"Its life: ",n,s.number>1?" each":""),p("ul",{class:"facts"},r,a),s.number>1&&r.length?p("p",{class:"dim small"},"The first of them is named."):""]}function Cs(e,t,s,n,i,o=!1){return s<0&&(!n||o)?null:s<0?p("li",{},`${t} `,p("code",{},n)):p("li",{},`${t} kernel ${b(s)}, `,p("button",{type:"button",class:"link code",onclick:()=>Ho(e,s)},n??"its kernel"),i?`, ${i}`:"")}function Ho(e,t){let s=e.data?.column("graph.kernel.entity")[t]??-1,n=e.data?.column("graph.kernel.spot")[t]??-1;s>=0?e.select({type:s%2?"kernel":"collective",row:s>>1}):n>=0&&e.select({type:"line",row:n})}function qo(e){return e.could.length?[p("h3",{},"What it could be"),p("ul",{class:"facts"},e.could.map(t=>p("li",{},t)))]:[]}var zs={worse:"Compiled, it sends more.",nothing:"Compiled, it changes nothing.",depends:"Compiled, it sends less or more by how many turns its loops take."};function Bs(e,t){let{rows:s,known:n,can_be_asked:i,waits:o,error:r}=e.suggestions;if(!n&&!i&&!s.length)return[];let a=s.map((l,c)=>({one:l,number:c})).filter(({one:l})=>l.names.some(c=>t.names.includes(c)));return[p("h3",{},"What could save it"),...a.map(({one:l,number:c})=>Xo(e,l,c)),n&&!a.length?p("p",{class:"dim"},Uo(s.length)):null,n?null:Ko(e,o),o?p("p",{class:"dim waits",role:"status"},"XLA is being asked"):null,r?p("p",{class:"refused",role:"alert"},r):null].filter(l=>l!==null)}function Uo(e){return e?`This program has ${S(e,"suggestion")}, none of which is about it.`:"No change that was tried saves a noticeable part."}function Ko(e,t){return e.ask?p("button",{type:"button",class:"button",disabled:t,onclick:()=>e.ask?.({type:"suggest"})},"Check what could"):p("p",{class:"dim"},p("code",{},"record.suggestions")," asks XLA (seconds).")}function Xo(e,t,s){let{axes:n}=e.first,i=!!t.figures.at(-1)[1],o=(r,a)=>p("tr",{},t.figures.map(l=>p(r,{},l[a]||"\u2013")));return p("section",{class:"suggestion","aria-label":"Suggestion"},p("p",{},p("b",{},A(t.title,n))),p("p",{class:"small"},A(t.sentence,n)),p("table",{class:"sidebyside"},o("th",0),o("td",1)),zs[t.verdict]?p("p",{class:"dim"},zs[t.verdict]):null,e.ask&&!i?p("button",{type:"button",class:"button",disabled:e.suggestions.waits,title:"Compile the changed program to the end, run nothing, and count",onclick:()=>e.ask?.({type:"check",number:s})},"Check"):null,t.error?p("p",{class:"refused",role:"alert"},t.error):null)}var Go=260;function _s(e){let t=p("section",{class:"details","aria-label":"Details",tabindex:0}),s=()=>{let{selection:n,list:i}=e.state,r=e.data&&i==="arrays"&&!["array","line","buffer"].includes(n?.type??"")?Vo(e):n===null||!e.data?Jo(e):null;t.replaceChildren(...r??Zo[n.type](e))};return e.listen(n=>{n.has("selection")&&requestAnimationFrame(()=>{t.scrollTop=0}),(n.has("selection")||n.has("data")||n.has("list")||n.has("suggestions")||n.has("device")&&["array","buffer"].includes(e.state.selection?.type??""))&&s()}),s(),t}var xe=60;function Vo(e){let{data:t,first:s}=e,n=e.rows("arrays").map((o,r)=>[o,r]).filter(([o])=>o.role==="input"),i=n.slice(0,xe).map(([o,r])=>{let a=t&&at(t,o.sharding,o.shape),l=o.number>1?` \xD7 ${b(o.number)}`:"";return p("button",{type:"button",class:"small-multiple",title:`${o.name}
${o.array} ${o.spec}`,onclick:()=>e.select({type:"array",row:r})},a?It(a,{axes:s.axes,width:58,label:`${o.array}, ${o.spec}`}):p("span",{class:"dim"},"?"),p("b",{class:"code"},p("bdi",{},o.name),l),p("code",{},o.spec))});return[p("h2",{},S(n.reduce((o,[r])=>o+r.number,0),"argument")),p("p",{class:"dim small"},"How each is cut; the numbers in the blocks are devices. Choose one to see more."),p("div",{class:"multiples"},i),...n.length>xe?[p("p",{class:"dim small"},`${n.length-xe} more in the list`)]:[]]}function Yo(e,t){let{collectives:s,kernels:n}=e.usesOf(t),i=e.rows("collectives"),o=[];return s.length&&o.push(p("h3",{},`${S(s.length,"collective")} of it alone`),p("ul",{class:"places uses"},s.slice(0,12).map(r=>p("li",{},p("button",{type:"button",class:"link",onclick:()=>e.select({type:"collective",row:r})},q(i[r].kind),` ${i[r].kind} over ${e.data?.header.axis_sets[i[r].axes].words}`),p("span",{class:"dim"},` ${i[r].sent}`))))),n.length&&o.push(p("h3",{},"Read by"),p("ul",{class:"places uses"},n.slice(0,12).map(({words:r,place:a,count:l})=>p("li",{},p("code",{},r),l>1?p("span",{class:"times"},` \xD7 ${b(l)} `):" ",a?Ht(e,a):null)),n.length>12?p("li",{class:"dim"},`and ${n.length-12} more`):null)),o}function Jo(e){let t=e.first.memory.length?[p("p",{},A(e.first.memory,e.first.axes))]:[],s=e.first.times.length?[p("p",{class:"dim"},A(e.first.times,e.first.axes))]:[],n=e.first.measured?[p("p",{},e.first.measured)]:[];return[p("h2",{},"Nothing selected"),p("p",{class:"dim"},"Choose a row, a line or a device. \u2191 \u2193 walk the list."),...t,...n,...s]}var Zo={collective:tr,array:or,kernel:rr,line:ar,buffer:Qo};function Qo(e){return Ls(e,{numbers:Ft,placeLink:Ht})}function tr(e){let t=e.selected,{axes:s}=e.first,n=e.data?.header.axis_sets[t.axes];return[p("h2",{class:O(n.axes,s)},q(t.kind)," ",A(t.title,s)),p("p",{class:"sub code"},p("bdi",{},t.what)),p("div",{class:"marks"},t.chips.map(i=>p("span",{class:"markchip"},i))),...er(t,s),Ft(t.numbers),we([["moves",t.moves],[t.kind==="collective-permute"?"from, to":"groups",t.groups_words],["at the same time",t.beside]]),...nr(e,t),...Ps(t.names,t.number),...Bs(e,t)]}function er(e,t){let s=e.reasons.flatMap(i=>[...i.sentences.map(o=>p("p",{class:"cause"},A(o,t))),...i.facts.length?[p("details",{},p("summary",{},`${S(i.facts.length,"fact")} behind it`),p("ul",{class:"facts"},i.facts.map(o=>p("li",{},A(o,t)))))]:[]]);if(!e.picture)return s;let n=(s[0]?.textContent??"").length<=Go?1:0;return[...s.slice(0,n),sr(e,t),...s.slice(n)]}function sr(e,t){let s=(o,r)=>{let a={...o,tileOf:o.tile_of,copies:new Set(o.tile_of).size>1?1:o.tile_of.length,isPartial:o.is_partial};return p("figure",{},It(a,{axes:t,width:84,label:`${r}: ${o.words}, ${o.caption}`}),p("figcaption",{},`${r}: ${o.caption}`,p("br"),p("code",{},o.words)))},n=s(e.picture.before,"before"),i=Number(n.querySelector("svg")?.getAttribute("height")??0);return p("div",{class:"moves"},p("div",{class:"pair"},n,p("span",{class:"arrow","aria-hidden":"true",style:{"margin-top":`${Math.max(16,i/2-8)}px`}},"\u2192"),s(e.picture.after,"after")),p("p",{class:"dim small"},e.picture.note))}function Ft(e){return p("table",{class:"numbers"},e.map(([t,s,n],i)=>{let o=s.lastIndexOf(" "),[r,a]=o>1&&!s.startsWith("\xD7")?[s.slice(0,o),s.slice(o+1)]:[s,""];return p("tr",{class:i===e.length-1?"sum":void 0},p("th",{scope:"row"},t),p("td",{class:"figure"},r),p("td",{class:"unit"},a),p("td",{class:"how"},n))}))}function we(e){let t=e.filter(([,s])=>s);return p("dl",{class:"pairs"},t.map(([s,n])=>[p("dt",{},s),p("dd",{class:"code"},n)]))}function nr(e,t){if(!t.lines?.length)return[];let s=ir(t.lines).map(({where:n,line:i,all:o},r)=>p("li",{title:o.length>1?o.join(`
`):void 0},Ht(e,n),o.length>1?p("span",{class:"times"},` \xD7 ${b(o.length)}`):null,r?p("span",{class:"dim"}," (caller)"):null,i?p("code",{class:"line"},i):null));return[p("h3",{},"Source"),p("ul",{class:"places"},s)]}function ir(e){let t=new Map;for(let[s,n]of e){let i=n?`${s.slice(0,s.lastIndexOf(":"))}
${n}`:s,o=t.get(i);o?o.all.push(s):t.set(i,{where:s,line:n,all:[s]})}return[...t.values()]}function Ht(e,t){let s=e.data?.column("spot_lines").length??0;for(let n=0;n<s;n++)if(e.spotName(n)===t)return p("button",{type:"button",class:"link code",onclick:()=>e.select({type:"line",row:n})},t);return p("code",{},t)}function Ps(e,t){let s=e.filter(Boolean);if(!s.length)return[];let n=s.slice(0,8).join(", ")+(t>8?` and ${b(t-8)} more`:"");return[p("h3",{},`In the HLO (${S(t,"instruction")})`),p("p",{class:"code names"},n)]}function or(e){let t=e.selected,{data:s,first:n,state:i}=e,o=s&&at(s,t.sharding,t.shape),r=t.copies===null?"copies unknown":t.copies===1?"no copies":`${b(t.copies)} copies of each element`,a=`${t.name}: ${t.array}, ${t.spec}, ${r}`;return[p("h2",{class:"code"},p("bdi",{},t.name)),p("p",{class:"sub"},t.role,t.number>1?`, ${b(t.number)} alike`:"",t.place?`, ${t.place}`:"",t.phase?`, ${t.phase}`:""),o?Wt(o,{axes:n.axes,device:i.device,label:a}):p("p",{class:"dim"},t.fate[0]??"Its sharding is unknown."),p("p",{class:"small"},`${r}. `,p("code",{},t.spec)),Ft([["per device",t.each,t.each==="unknown"?"unknown":"counted"],["copies of each element",t.copies===null?"unknown":`\xD7 ${t.copies}`,t.copies===null?"unknown":"counted"],[t.number>1?`all ${t.number}, per device`:"in all, per device",t.all,t.all==="unknown"?"unknown":"counted"]]),we([["global",t.array],["local, per device",t.local]]),t.fate.length?p("ul",{class:"facts"},t.fate.map(l=>p("li",{},A(l,n.axes)))):"",...Yo(e,t),i.device===null?p("p",{class:"dim small"},"Point at a device of the mesh to see its block."):"",t.names.length?p("p",{class:"code names"},t.names.slice(0,40).join(", ")):""]}function rr(e){let t=e.selected,s=t.contains.map(([i,o])=>p("li",{},p("code",{},i),o>1?` \xD7 ${o}`:"")),n=(i,o)=>i.join(", ")+(o?` and ${o} more`:"");return[p("h2",{},q("kernel")," ",t.target||`${t.kind} fusion`),p("p",{class:"sub code"},p("bdi",{},t.what)),t.place?p("ul",{class:"places"},p("li",{},Ht(e,t.place))):"",Ft(t.numbers),p("h3",{},"Contains"),s.length?p("ul",{class:"opcodes"},s):p("p",{class:"dim"},"What it contains is unknown."),we([["reads",n(t.inputs,t.inputs_more)],["writes",n(t.outputs,0)]]),...Ps(t.names,t.number)]}function ar(e){let t=e.state.selection?.row??-1,n=["collective","kernel","array"].map(i=>({type:i,rows:e.rows(`${i}s`).map((o,r)=>[o,r]).filter(([o])=>o.spots.includes(t))})).filter(({rows:i})=>i.length).flatMap(({type:i,rows:o})=>[p("h3",{},`${S(o.length,i)} of this line`),p("ul",{class:"places"},o.slice(0,30).map(([r,a])=>p("li",{},p("button",{type:"button",class:"link",onclick:()=>e.select({type:i,row:a})},q(i==="collective"?r.kind:i)," ",r.what??r.name),p("span",{class:"dim"},` ${r.sent??r.traffic??r.each}`))))]);return[p("h2",{class:"code"},e.spotName(t)),...n.length?n:[p("p",{class:"dim"},"No collective, kernel or array is of this line.")]]}var be="alive:",qt=class{constructor(t,s={}){this.first=t,this.data=null,this.state={list:"collectives",centre:t.has_graph?"graph":"text",pane:"centre",wide:!1,text:"",axes:null,kind:null,role:null,cause:null,note:null,sort:"",reversed:!1,heat:"selection",device:null,selection:null,files:0,shown:s.texts??["source","hlo"],hoverSpot:-1,stale:"",finding:0},this.memory=null,this.memoryError="",this.readMemory=null,this.awaited="",this.findings=t.findings,this.suggestions=t.suggestions,this.isReading=!1,this.ask=null,this.listeners=[],this.isNarrow=()=>!1,this.usesOf=()=>({collectives:[],kernels:[]}),this.graphNeed=()=>({height:0,isFlow:!1}),this.graphPicture=()=>""}listen(t){this.listeners.push(t)}set(t){let s=Object.keys(t),n=new Set(s.filter(i=>this.state[i]!==t[i]));n.size&&(Object.assign(this.state,t),this.listeners.forEach(i=>i(n)))}open(t){this.data=t,this.listeners.forEach(s=>s(new Set(["data"])))}async openMemory(t){if(!(!this.readMemory||this.isReading)){this.isReading=!0;try{this.memory=t(await this.readMemory())}catch(s){this.memoryError=`What is alive in memory could not be read: ${s}`}this.listeners.forEach(s=>s(new Set(["memory"]))),this.awaited&&this.set({stale:this.selectName(this.awaited)?"":this.awaited}),this.awaited=""}}setFindings(t){this.findings=t,this.state.finding=0,this.listeners.forEach(s=>s(new Set(["findings"])))}setSuggestions(t){this.suggestions=t,this.listeners.forEach(s=>s(new Set(["suggestions"])))}rows(t){return t==="buffers"?this.memory?.rows??[]:this.data?this.data.header[t]??[]:t==="collectives"?this.first.collectives:[]}get selected(){let{selection:t}=this.state;return!t||t.type==="line"?null:this.rows(`${t.type}s`)[t.row]??null}select(t,s=!1){let n=this.state.selection;if(n?.type===t?.type&&n?.row===t?.row)return;let i=this.asListed(t),o=i&&i.type!=="line"?{list:`${i.type}s`}:{};this.set({selection:t,...s?{}:{stale:""},...o})}asListed(t){return t?.type==="buffer"?this.rows("buffers")[t.row]?.own??null:t}get listed(){return this.asListed(this.state.selection)}spots(){let{selection:t}=this.state;return t?t.type==="line"?new Set([t.row]):new Set(this.selected?.spots??[]):new Set}selectionName(){let{selection:t}=this.state;if(!t||!this.data)return"";if(t.type==="line")return this.spotName(t.row);let s=this.selected;return s&&t.type==="buffer"?`${be}${s.names[0]??s.name}`:s?t.type==="array"?s.name:s.names[0]??"":""}spotName(t){if(!this.data)return"";let s=this.data.header.files[this.data.column("spot_files")[t]];return s===void 0?"":`${s}:${this.data.column("spot_lines")[t]}`}selectName(t){if(!t)return this.select(null),!0;if(t.startsWith(be))return this.selectAlive(t);for(let n of["collective","kernel","array"]){let i=this.rows(`${n}s`).findIndex(o=>n==="array"?o.name===t||o.names.includes(t):o.names?.includes(t));if(i>=0)return this.select({type:n,row:i}),!0}let s=this.data?.column("spot_lines").length??0;for(let n=0;n<s;n++)if(this.spotName(n)===t)return this.select({type:"line",row:n}),!0;return!1}selectAlive(t){if(!this.memory)return this.readMemory?(this.awaited=t,this.set({centre:"memory",pane:"centre"}),!0):!1;let s=t.slice(be.length),n=this.rows("buffers").findIndex(i=>i.names.includes(s)||i.name===s);return n>=0&&this.select({type:"buffer",row:n}),n>=0}};function ye(e,t,s){let{note:n=null}=t;if(n!==null&&s.notes[n].list===t.list&&!e.notes?.includes(n)||t.list==="collectives"&&((t.cause??null)!==null&&!e.causes.includes(t.cause)||t.axes!==null&&e.axes!==t.axes||t.kind!==null&&e.kind!==t.kind)||t.list==="arrays"&&t.role!==null&&e.role!==t.role)return!1;if(!t.text)return!0;let i=[e.kind,e.what,e.name,e.place,e.cause,e.phase,...e.causes??[],e.array,e.spec,e.target,...e.names??[]];t.list==="collectives"&&i.push(s.axis_sets[e.axes]?.words);let o=t.text.toLowerCase().split(/\s+/),r=i.filter(Boolean).join(" ").toLowerCase();return o.every(a=>r.includes(a))}var D={text:"",axes:null,kind:null,cause:null,role:null,note:null},Rs=["forward","backward","recompute","optimizer"],Ns=new Intl.Collator("en",{numeric:!0}),Ws={collectives:[["size","bytes"],["time","time"],["name","name"],["count","count"],["place","place"],["phase","phase"]],arrays:[["given","role"],["size","bytes"],["name","name"],["count","count"],["place","place"]],kernels:[["size","bytes"],["time","time"],["name","name"],["count","count"],["place","place"]]};function ut(e){return Object.keys(D).some(s=>(e[s]??null)!==D[s])}function Kt(e,t){let s=Ws[e.list].map(([n])=>n);return s.includes(e.sort)?e.sort:t.measured&&s.includes("time")?"time":s[0]}function Mt(e,t,s){let n=e.map((o,r)=>[o,r]).filter(([o])=>ye(o,t,s)),i=Kt(t,s);return i!=="given"&&n.sort(([o,r],[a,l])=>lr[i](o,a)||r-l),t.reversed?n.reverse():n}var lr={size:(e,t)=>Ut(t)-Ut(e),time:(e,t)=>(t.time_us??-1)-(e.time_us??-1),count:(e,t)=>t.number-e.number,name:(e,t)=>Ns.compare(e.name??e.what,t.name??t.what),place:(e,t)=>+!e.place-+!t.place||Ns.compare(e.place??"",t.place??""),phase:(e,t)=>Is(e)-Is(t)||Ut(t)-Ut(e)};function Ds(e,t){return Ws[e].filter(([s])=>s!=="time"||t.some(n=>n.time_us!==void 0))}function Ut(e){return e.sent_bytes??e.bytes??0}function Is(e){let t=Rs.indexOf(e.phase);return t<0?Rs.length:t}function Fs(e,t,s){let n=new Map,i=0;for(let o of e){if(!ye(o,{...t,axes:null},s))continue;let[r,a]=n.get(o.axes)??[0,0];n.set(o.axes,[r+o.sent_bytes,a+o.number]),i+=o.number}return{sums:n,number:i}}function lt(e,t){let{data:s}=e,n=t.collective<0?-1:s?.column("graph.collective.row")[t.collective]??-1;n>=0?e.select({type:"collective",row:n}):t.entity>=0?e.select({type:t.entity%2?"kernel":"collective",row:t.entity>>1}):t.spot>=0&&e.select({type:"line",row:t.spot})}function ct(e,t){let{listed:s}=e;return!s||s.type==="array"?!1:s.type==="line"?t.entity<0&&t.collective<0&&t.spot===s.row:s.type==="collective"&&t.collective>=0?e.data?.column("graph.collective.row")[t.collective]===s.row:t.entity===2*s.row+ +(s.type==="kernel")}function St(e){let t=e.closest(".boxbody");if(!t)return;let s=t.getBoundingClientRect(),n=e.getBoundingClientRect();n.top<s.top?t.scrollTop-=s.top-n.top+8:n.bottom>s.bottom&&(t.scrollTop+=n.bottom-s.bottom+8),n.left<s.left?t.scrollLeft-=s.left-n.left+8:n.right>s.right&&(t.scrollLeft+=n.right-s.right+8)}function Gt(e,t,s,n){if(!(e.ctrlKey||e.metaKey||e.altKey))return{Home:0,End:s.length-1,Enter:t," ":t,ArrowDown:Xt(s,n,t,0,1),ArrowUp:Xt(s,n,t,0,-1),ArrowRight:Xt(s,n,t,1,0),ArrowLeft:Xt(s,n,t,-1,0)}[e.key]}function Xt(e,t,s,n,i){let o=d=>[d.x+d.width/2,d.y+d.height/2],[r,a]=o(e[s]),l=new Set(t.flatMap(([d,f])=>i>0&&d===s?[f]:i<0&&f===s?[d]:[])),c=s,h=1/0;return e.forEach((d,f)=>{let[u,m]=o(d),g=(u-r)*n+(m-a)*i,x=Math.abs((u-r)*i)+Math.abs((m-a)*n);if(f===s||g<=1||n&&x>d.height+e[s].height)return;let w=g+2*x-(l.has(f)?1e5:0);w<h&&([c,h]=[f,w])}),c}var ve=14;function U(e){let t=p("div",{class:"floating","aria-hidden":"true",hidden:!0});return{show(s,n,i){let o=e.closest(".frame");if(!o||!s.length)return;t.parentNode!==o&&o.append(t),t.replaceChildren(...s.map((f,u)=>p(u?"p":"b",{},p("bdi",{},f)))),t.hidden=!1;let r=o.getBoundingClientRect(),{offsetWidth:a,offsetHeight:l}=t,c=Math.max(4,Math.min(n-r.left+ve,r.width-a-4)),h=i-r.top+ve,d=h+l+4>r.height?i-r.top-l-ve:h;t.style.left=`${c}px`,t.style.top=`${Math.max(4,d)}px`},hide(){t.hidden=!0}}}function qs(e,t){let s=hr(e.length,t),n={rows:[],layer:s,count:e.length,width:e.map(i=>i.width),height:e.map(i=>i.height),box:e.map(i=>i.box??i.width),port:e.map(i=>i.port),source:e.map((i,o)=>o),up:e.map(()=>[]),down:e.map(()=>[]),x:[]};for(let[i,o]of cr(t))dr(n,i,o);return n.layer.forEach((i,o)=>(n.rows[i]??=[]).push(o)),n}function cr(e){let t=new Map;for(let[s,n]of e)t.set(s,(t.get(s)??new Set).add(n));return[...t].sort((s,n)=>s[0]-n[0])}function hr(e,t){let s=pr(e,t),{next:n,before:i}=Us(e,t),o=new Array(e).fill(0);for(let r of s)for(let a of n[r])o[a]=Math.max(o[a],o[r]+1);for(let r of s)!i[r].length&&n[r].length&&(o[r]=n[r].reduce((a,l)=>Math.min(a,o[l]),1/0)-1);return o}function Us(e,t){let s=Array.from({length:e},()=>[]),n=s.map(()=>[]);for(let[i,o]of t)s[i].push(o),n[o].push(i);return{next:s,before:n}}function pr(e,t){let{next:s,before:n}=Us(e,t),i=n.map(r=>r.length),o=i.flatMap((r,a)=>r?[]:[a]);for(let r=0;r<o.length;r++)for(let a of s[o[r]])--i[a]===0&&o.push(a);if(o.length<e)throw new Error(`edges run in a circle through node ${i.findIndex(r=>r>0)}: expected none`);return o}function dr(e,t,s){let n=[...s].reduce((o,r)=>Math.max(o,e.layer[r]),0),i=t;for(let o=e.layer[t]+1;o<=n;o++){for(let a of s)e.layer[a]===o&&Hs(e,i,a);if(o===n)return;let r=e.layer.push(o)-1;e.width.push(0),e.height.push(0),e.box.push(0),e.port.push(void 0),e.source.push(t),e.up.push([]),e.down.push([]),Hs(e,i,r),i=r}}function Hs(e,t,s){e.down[t].push(s),e.up[s].push(t)}function Gs(e){let t=new Array(e.layer.length).fill(0);e.rows.forEach(i=>Vs(i,t));let s=e.rows.map(i=>[...i]),n=Xs(e,t);for(let i=0,o=0;i<10&&o<3&&n;i++){fr(e,t,i%2===0),mr(e,t);let r=Xs(e,t);o=r<n?0:o+1,r<n&&([s,n]=[e.rows.map(a=>[...a]),r])}e.rows=s}function Vs(e,t){e.forEach((s,n)=>{t[s]=n})}function fr(e,t,s){let{rows:n}=e,i=s?e.up:e.down;for(let o=1;o<n.length;o++){let r=s?o:n.length-1-o,a=n[r],l=a.length/n[s?r-1:r+1].length,c=new Map(a.map(h=>[h,i[h].length?(ur(i[h],t)+.5)*l:t[h]+.5]));a.sort((h,d)=>c.get(h)-c.get(d)||t[h]-t[d]),Vs(a,t)}}function ur(e,t){let s=0;for(let n of e)s+=t[n];return s/e.length}function mr(e,t){for(let s of e.rows)for(let n=1;n<s.length;n++){let[i,o]=[s[n-1],s[n]];[e.up,e.down].reduce((a,l)=>a+Ks(l[i],l[o],t)-Ks(l[o],l[i],t),0)<=0||([s[n-1],s[n]]=[o,i],[t[i],t[o]]=[n,n-1])}}function Ks(e,t,s){let n=0;for(let i of e)for(let o of t)s[i]>s[o]&&n++;return n}function Xs(e,t){let s=0;for(let n=1;n<e.rows.length;n++)s+=gr(e,e.rows[n-1],e.rows[n].length,t);return s}function gr(e,t,s,n){let i=new Int32Array(s+1),o=0,r=0;for(let a of t){let l=e.down[a].map(c=>n[c]);for(let c of l){o+=r;for(let h=c+1;h>0;h-=h&-h)o-=i[h]}for(let c of l)for(let h=c+1;h<=s;h+=h&-h)i[h]++;r+=l.length}return o}function Zs(e){let{rows:t}=e;e.x=new Array(e.layer.length).fill(0);for(let n of t)xr(e,n);for(let n=0;n<6;n++){let i=n%2?[...t].reverse():t;for(let o of i)br(e,o,n>=4?[e.up,e.down]:[n%2?e.down:e.up])}Ys(e),Ys(e);let s=e.x.reduce((n,i,o)=>Math.min(n,i-e.width[o]/2),1/0);e.x=e.x.map(n=>n-s)}function Vt(e,t,s){let n=+(t>=e.count)+ +(s>=e.count);return(e.width[t]+e.width[s])/2+[18,12,9][n]}function xr(e,t){let s=0;t.forEach((n,i)=>{e.x[n]=s+=i?Vt(e,t[i-1],n):0});for(let n of t)e.x[n]-=s/2}function wr(e,t,s){return[1,2,8][+(t>=e.count)+ +(s>=e.count)]}function br(e,t,s){let n=[],i=[0];t.forEach((r,a)=>{a&&i.push(i[a-1]+Vt(e,t[a-1],r));let[l,c]=yr(e,r,s);for(n.push({sum:(l-i[a])*c,weight:c,count:1});n.length>1&&ke(n[n.length-2])>ke(n[n.length-1]);){let h=n.pop(),d=n[n.length-1];d.sum+=h.sum,d.weight+=h.weight,d.count+=h.count}});let o=0;for(let r of n)for(let a=0;a<r.count;a++,o++)e.x[t[o]]=ke(r)+i[o]}function ke(e){return e.sum/e.weight}function yr(e,t,s){let n=0,i=0;for(let o of s)for(let r of o[t]){let a=wr(e,t,r);n+=a*e.x[r],i+=a}return i?[n/i,i]:[e.x[t],.1]}function Ys(e){let t=new Map(e.rows.flatMap(n=>n.map((i,o)=>[i,o]))),s=e.rows.flat().filter(n=>n>=e.count&&e.up[n][0]<e.count);for(let n of s){let i=-1/0,o=1/0,r=[];for(let a=n;a!==void 0;a=e.down[a].find(l=>l>=e.count)){let[l,c]=vr(e,a,t.get(a));(l>o||c<i)&&(Js(e,r,i,o),[r,i,o]=[[],-1/0,1/0]),r.push(a),[i,o]=[Math.max(i,l),Math.min(o,c)]}Js(e,r,i,o)}}function vr(e,t,s){let n=e.rows[e.layer[t]],i=s?e.x[n[s-1]]+Vt(e,n[s-1],t):-1/0,o=s+1<n.length?e.x[n[s+1]]-Vt(e,t,n[s+1]):1/0;return[Math.min(i,e.x[t]),Math.max(o,e.x[t])]}function Js(e,t,s,n){if(!t.length)return;let i=e.x[e.up[t[0]][0]],o=t.reduce((a,l)=>a+e.x[l],0)/t.length,r=i>=s&&i<=n?i:Math.max(s,Math.min(n,o));for(let a of t)e.x[a]=r}function tn(e,t){let s=$r(e),n=e.rows.map(h=>Sr(e,h,s)),i=n.map(h=>Or([...h.values()])),o=kr(e,i),r=Array.from({length:e.count},(h,d)=>{let f=o[e.layer[d]];return{x:e.x[d]-e.width[d]/2,y:f.top+(f.height-e.height[d])/2}}),a=t.map(([h,d])=>Ar(e,r,n,o,h,d)),l=e.x.reduce((h,d,f)=>Math.max(h,d+e.width[f]/2),0),c=o[o.length-1];return{boxes:r,routes:a,width:l,height:c.top+c.height}}function kr(e,t){let s=0;return e.rows.map((n,i)=>{let o=n.reduce((a,l)=>Math.max(a,e.height[l]),0),r=s;return s+=o+18+6*Math.max(0,t[i]-1),{top:r,height:o}})}function en(e,t,s){return Math.max(t,Math.min(s,e))}function $e(e,t){let n=e.x[t]-e.width[t]/2+e.box[t]/2,i=Math.max(0,e.box[t]/2-10);return[n-i,n+i]}function $r(e){let t=e.x.map((n,i)=>jr(e,i)),s=e.up.map((n,i)=>Mr(e,i,n,t));return{below:t,above:s}}function jr(e,t){let s=e.port[t];if(s!==void 0)return e.x[t]-e.width[t]/2+s;let n=e.x[t];if(t>=e.count||!e.down[t].length)return n;let[i,o]=$e(e,t),a=e.down[t].map(l=>en(n,...$e(e,l))).filter(l=>l>=i&&l<=o).sort((l,c)=>Math.abs(l-n)-Math.abs(c-n));return a.length?a[0]:n}function Mr(e,t,s,n){let[i,o]=$e(e,t),r=[...s].sort((c,h)=>n[c]-n[h]||c-h),a=r.length>1?Math.min(9,(o-i)/(r.length-1)):0,l=r.map(c=>en(n[c],i,o));for(let c=1;c<l.length;c++)l[c]=Math.max(l[c],l[c-1]+a);for(let c=l.length-1,h=o;c>=0;c--,h-=a)l[c]=Math.min(l[c],h);return new Map(r.map((c,h)=>[c,l[h]]))}function Sr(e,t,s){let n=new Map;for(let i of t){if(!e.down[i].length)continue;let o=new Map(e.down[i].map(a=>[a,s.above[a].get(i)??0])),r=[s.below[i],...o.values()];n.set(i,{top:s.below[i],ends:o,low:Math.min(...r),high:Math.max(...r),track:-1})}return n}function Or(e){let t=e.filter(o=>o.high-o.low>.01),s=t.map(o=>t.reduce((r,a)=>a===o?r:r+Qs(o,a)-Qs(a,o),0)),n=t.map((o,r)=>r).sort((o,r)=>s[o]-s[r]||t[o].low-t[r].low||o-r),i=0;return n.forEach((o,r)=>{let a=t[o];a.track=0;for(let l of n.slice(0,r))t[l].low-4<a.high&&a.low<t[l].high+4&&(a.track=Math.max(a.track,t[l].track+1));i=Math.max(i,a.track+1)}),i}function Qs(e,t){if(e.low>t.high||t.low>e.high)return 0;let s=t.top>e.low&&t.top<e.high?1:0;for(let n of e.ends.values())n>t.low&&n<t.high&&(s+=1),Math.abs(n-t.top)<2&&(s+=20);return s}function Ar(e,t,s,n,i,o){let r=[o];for(let l=o;l!==i;r.push(l))l=e.up[l].find(c=>e.source[c]===i)??i;r.reverse();let a=[];for(let l=0;l+1<r.length;l++){let c=e.layer[r[l]],h=s[c].get(r[l]),d=n[c],f=h.ends.get(r[l+1])??0;if(l===0&&a.push([h.top,t[i].y+e.height[i]]),Math.abs(f-h.top)<.01)continue;let u=d.top+d.height+9+6*h.track;a.push([h.top,u],[f,u])}return a.push([a[a.length-1][0],t[o].y]),a}var sn=22,Tr=1200;function Yt(e,t={}){Er(e);let s=Cr(e).map(n=>Lr(e,n));return zr(e,s,t.width??Tr)}function Er({nodes:e,edges:t}){let s=t.find(([n,i])=>n===i||!(n in e)||!(i in e));if(s)throw new Error(`edge ${s.join(" -> ")}: expected two different nodes of 0 to ${e.length-1}`)}function Cr({nodes:e,edges:t}){let s=e.map((r,a)=>a),n=r=>{for(;s[r]!==r;)r=s[r]=s[s[r]];return r};for(let[r,a]of t){let[l,c]=[n(r),n(a)];s[Math.max(l,c)]=Math.min(l,c)}let i=new Map;e.forEach((r,a)=>{let l=i.get(n(a));l?l.push(a):i.set(n(a),[a])});let o=[...i.values()];return[...o.filter(r=>r.length>1),...o.filter(r=>r.length===1)]}function Lr(e,t){let s=new Map(t.map((r,a)=>[r,a])),n=[];e.edges.forEach(([r],a)=>s.has(r)&&n.push(a));let i=n.map(r=>e.edges[r].map(a=>s.get(a))),o=qs(t.map(r=>e.nodes[r]),i);return Gs(o),Zs(o),{members:t,numbers:n,...tn(o,i)}}function zr(e,t,s){let n={width:0,height:0,boxes:e.nodes.map(a=>({x:0,y:0,...a})),routes:e.edges.map(()=>[])},i=0,o=0,r=0;for(let a of t)i&&i+a.width>s&&([i,o,r]=[0,o+r+sn,0]),a.members.forEach((l,c)=>Object.assign(n.boxes[l],{x:i+a.boxes[c].x,y:o+a.boxes[c].y})),a.numbers.forEach((l,c)=>{n.routes[l]=a.routes[c].map(([h,d])=>[i+h,o+d])}),r=Math.max(r,a.height),n.width=Math.max(n.width,i+a.width),n.height=Math.max(n.height,o+r),i+=a.width+sn;return n}var nn="600 11px system-ui, sans-serif",je="10px ui-monospace, monospace",Jt=13,Me=8,Br=230,on=60,K={width:24,height:18},rn=18,ln=7,_r=2,Zt=class{constructor(t,s){this.store=t,this.data=t.data;let{nodes:n,edges:i,copies:o}=this.data.header.flow;this.all=t.first.axes,this.edges=i;let r=document.createElement("canvas").getContext("2d");this.nodes=n.map((u,m)=>this.read(u,m,n)),this.sizes=this.nodes.map(u=>Rr(u,r)),this.picture=Yt({nodes:this.sizes,edges:this.edges},{width:900}),this.current=-1,this.arrows=this.edges.map((u,m)=>this.arrow(m)),this.groups=this.nodes.map((u,m)=>this.group(m)),this.wires=M("g",{},this.arrows);let[a,l]=[this.picture.width+24,this.picture.height+20];this.svg=M("svg",{class:"dag flow",role:"listbox","aria-label":"The program: arguments, kernels, collectives, results. Arrows walk along the flow",viewBox:`-12 -8 ${a} ${l}`,width:a,height:l,style:{"--dag-width":`${a}px`}},this.wires,this.groups),this.svg.addEventListener("keydown",u=>this.key(u)),this.scroller=p("div",{class:"flowbody"},s?null:this.svg);let c=n.filter(u=>u.kind==="kernel").length,h=n.filter(u=>u.kind==="collective").length,d=[S(c,this.data.header.work),S(h,"collective")],f=o?`; ${o} layout cop${o===1?"y":"ies"} not drawn`:", all drawn";this.element=p("div",{class:"flowpane"},s?this.besideScroller():this.scroller,p("p",{class:"dim flowfoot"},`${d.join(", ")}${f}. Shapes and bytes on arrows are those of one device.`)),this.tip=U(this.svg),this.element.hidden=!0}besideScroller(){let{scroller:t,svg:s}=this,n=p("div",{}),i=p("div",{class:"flowclip"},s);t.append(n);let o=()=>{i.style.width=`${t.clientWidth}px`,i.style.height=`${t.clientHeight}px`;let a=s.getBoundingClientRect();n.style.width=`${a.width}px`,n.style.height=`${a.height}px`,s.style.transform=`translate(${-t.scrollLeft}px, ${-t.scrollTop}px)`};t.addEventListener("scroll",o,{passive:!0});let r=new ResizeObserver(o);return r.observe(t),r.observe(s),Pr(i,t),p("div",{class:"flowview"},t,i)}get need(){return Number(this.svg.getAttribute("height"))+this.element.offsetHeight-this.scroller.offsetHeight}fits(t){return this.picture.width<=_r*t}read(t,s,n){if(t.kind==="argument"||t.kind==="result")return this.end(t);let{data:i,store:o}=this,r=P=>i.column(`graph.${P}`),a=t.kernel,l=[...r("collective.kernel")].indexOf(a),c=l<0?void 0:i.header.collectives[r("collective.row")[l]],h=c&&i.header.axis_sets[c.axes],d=r("kernel.spot")[a],f=d<0?"":o.spotName(d),u=r("kernel.runs")[a],m=u===1?"":u<0?"\xD7 unknown":`\xD7 ${b(u)}`,g=!c&&r("kernel.matmuls")[a]>0,x=i.strings("graph.labels").at(r("kernel.label")[a]),w=r("kernel.bytes")[a],y=this.edges.some(([P,I])=>P===s&&n[I].kind!=="result"),$=t.value.array?`${t.value.array} `:"",v=w<0?"":k(w),j=c?[{words:`${c.kind} `},{words:h.words,axes:h.axes??[]}]:[{words:`${g?"\xD7 ":""}${x}`}],B=[c&&t.sent?`${t.sent} sent`:"",f.split("/").pop()??"",m].filter(Boolean);return{kind:t.kind,lines:[j,[{words:B.join(" \xB7 ")||i.strings("graph.kernel.names").at(a)}]],beside:y?[[{words:`${$}${v}`}],...t.value.spec?[Se(t.value.spec)]:[]]:[],story:[c?`${c.kind} over ${h.words}`:x,`${i.strings("graph.kernel.names").at(a)}${f?`, ${f}`:""}`,t.sent?`${t.sent} sent by each device, each time (modelled, ring)`:"",`result ${$}${v} on one device${m?`, run ${m.slice(2)} times per call`:""}`,t.value.spec?`the value it computes: ${an(t.value.spec)}`:""].filter(Boolean),color:h?O(h.axes,this.all):"ax-none",isMatmul:g,of:t,one:{kernel:a,collective:l,entity:r("kernel.entity")[a],spot:d}}}end(t){let{spec:s}=t.value;return{kind:t.kind,lines:[[{words:t.name}],...t.array?[[{words:t.array}]]:[],...s||t.bytes?[[...s?Se(s):[],{words:` ${t.bytes}`}]]:[]],beside:[],story:[`${t.kind} ${t.name}`,[t.array,s?an(s):""].filter(Boolean).join(" "),t.bytes?`${t.bytes} on each device`:""].filter(Boolean),color:"ax-none",isMatmul:!1,of:t,one:null}}arrow(t){let[s]=this.edges[t],n=this.picture.routes[t],[i,o]=n[n.length-1],[r,a]=n[0],l=a-this.sizes[s].beside,c=[[r,l],...n].map(h=>h.join(",")).join(" ");return M("g",{class:"edge"},M("polyline",{points:c}),M("path",{class:"tip",d:`M${i-3.5} ${o-5.5}h7L${i} ${o}z`}))}group(t){let s=this.nodes[t],n=this.sizes[t],i=this.picture.boxes[t],o=0,r=n.height-n.beside,a=s.of.tiles?this.mini(s.of):null,l=a?K.width+6:0;return M("g",{class:`kernel ${s.kind} ${s.kind==="collective"?"move":s.isMatmul?"matmul":"plain"} ${s.color}`,role:"option",tabindex:t?-1:0,"aria-label":s.story.join("; "),"aria-selected":"false",transform:`translate(${i.x} ${i.y})`,onclick:()=>this.choose(t),onpointermove:c=>this.tip.show(s.story,c.clientX,c.clientY),onpointerleave:()=>this.tip.hide()},M("rect",{x:o,width:n.box,height:r,rx:s.kind==="collective"?r/2:3}),s.isMatmul?M("rect",{class:"side",x:o,width:3,height:r}):null,a&&M("g",{transform:`translate(${o+Me} 7)`},a),s.lines.map((c,h)=>this.text(c,h?"name":"title",o+Me+l+(s.kind==="collective"?4:0),4+Jt*(h+.78))),s.beside.map((c,h)=>this.text(c,"beside",(n.port??0)+ln,r+Jt*(h+.95))))}text(t,s,n,i){return M("text",{class:s,x:n,y:i},t.map(o=>o.axes?M("tspan",{class:`axisname ${O(o.axes,this.all)}`},o.words):o.words))}mini(t){let{tiles:s}=t,n=t.value.spec??s.map(()=>[]),i=s.length,o=Math.min(8,s[i-2]??1),r=Math.min(8,s[i-1]??1),a=s.slice(0,-2).some(h=>h>1),l=[...new Set(n.flat())],c=[];for(let h=1;h<o;h++)c.push(`M0 ${K.height*h/o}h${K.width}`);for(let h=1;h<r;h++)c.push(`M${K.width*h/r} 0v${K.height}`);return M("g",{class:`mini ${O(l,this.all)}${l.length?"":" whole"}`,"aria-hidden":"true"},a?M("rect",{x:3,y:-3,width:K.width,height:K.height}):null,M("rect",{width:K.width,height:K.height}),c.length?M("path",{d:c.join("")}):null)}choose(t){let{one:s,of:n}=this.nodes[t];if(this.tip.hide(),this.current=t,this.groups[t].focus({preventScroll:!0}),s)lt(this.store,s);else{let i=n.kind==="argument"?"input":"output",r=this.store.rows("arrays").findIndex(a=>a.role===i&&(a.name===n.name||a.name===n.pattern));r>=0&&this.store.select({type:"array",row:r})}this.mark()}isOn(t){let{one:s,of:n}=this.nodes[t];if(s)return ct(this.store,s);let{listed:i}=this.store;if(i?.type!=="array")return!1;let o=this.store.rows("arrays")[i.row];return o.role===(n.kind==="argument"?"input":"output")&&(o.name===n.name||o.name===n.pattern)}update(){(this.current<0||!this.isOn(this.current))&&(this.current=this.nodes.findIndex((o,r)=>this.isOn(r))),this.mark();let t=this.groups[this.current],s=this.scroller,n=s.getBoundingClientRect();if(!t||!n.height)return;let i=t.getBoundingClientRect();i.top<n.top?s.scrollTop-=n.top-i.top+on:i.bottom>n.bottom&&(s.scrollTop+=i.bottom-n.bottom+on)}mark(){let t=new Set;this.edges.forEach(([s,n],i)=>{let o=this.current>=0&&(s===this.current||n===this.current);o&&t.add(s).add(n),this.arrows[i].classList.toggle("lit",o),o&&this.wires.append(this.arrows[i])}),this.groups.forEach((s,n)=>{s.setAttribute("aria-selected",String(n===this.current||this.isOn(n))),s.classList.toggle("near",t.has(n)&&n!==this.current),s.setAttribute("tabindex",n===Math.max(0,this.current)?"0":"-1")})}key(t){let s=this.groups.findIndex(i=>i===t.target),n=s<0?void 0:Gt(t,s,this.picture.boxes,this.edges);n!==void 0&&(t.preventDefault(),t.stopPropagation(),this.choose(n))}};function Pr(e,t){let s=null,n=!1;e.addEventListener("pointerdown",i=>{n=!1,s={x:i.clientX,y:i.clientY,left:t.scrollLeft,top:t.scrollTop}}),e.addEventListener("pointermove",i=>{if(!s)return;let[o,r]=[i.clientX-s.x,i.clientY-s.y];!n&&Math.hypot(o,r)<4||(n||e.setPointerCapture(i.pointerId),n=!0,t.scrollLeft=s.left-o,t.scrollTop=s.top-r)});for(let i of["pointerup","pointercancel","pointerleave"])e.addEventListener(i,()=>s=null);e.addEventListener("click",i=>n&&i.stopPropagation(),!0)}function Se(e){return[{words:"P("},...e.flatMap((t,s)=>[...s?[{words:", "}]:[],t.length?{words:t.join("+"),axes:t}:{words:"\u2013"}]),{words:")"}]}function an(e){return Se(e).map(t=>t.words).join("")}function Rr(e,t){let s=(l,c)=>{let h=l.map(d=>d.words).join("");return t?(t.font=c,t.measureText(h).width):h.length*6.4};for(let l of e.lines)Nr(l,c=>s(c,l===e.lines[0]?nn:je));let n=e.of.tiles?K.width+6:e.kind==="collective"?8:0,i=e.lines.map((l,c)=>s(l,c?je:nn)),o=Math.ceil(Math.max(56,...i))+2*Me+n,r=Math.max(0,...e.beside.map(l=>s(l,je))),a=e.beside.length?e.beside.length*Jt+4:0;return{box:o,beside:a,width:Math.max(o,rn+Math.ceil(r)+ln),port:e.beside.length?rn:void 0,height:e.lines.length*Jt+8+a}}function Nr(e,t){let s=e.reduce((i,o)=>o.words.length>i.words.length?o:i,e[0]),n=[...s.words];for(;n.length>8&&t(e)>Br;)n=[...n.slice(0,Math.ceil(n.length*.45)),"\u2026",...n.slice(-Math.floor(n.length*.55)+2)],s.words=n.join("")}var cn=6,Ir={own:"",combined:"most of its names are of this scope",body:"most of what it fuses is of this scope",producer:"by what it sums",user:"by what takes its result",operand:"by what it takes",caller:"by the loop or call it stands in",argument:"by the argument it reads",array:"by the array it updates",loop:"moved out of a loop",none:"nothing tells its scope"};function dn(e,t){let s=e.column("graph.kernel.box"),n=[];s.forEach((r,a)=>r===t&&n.push(a));let i=new Map(n.map((r,a)=>[r,a])),o=Hr(e,t,i);return{title:un(e,t),facts:Wr(e,t),kernels:Dr(e,n,o.args),edges:o.edges,stubs:[...pn(e,o.into,!0),...pn(e,o.outof,!1)],isList:!!e.column("graph.box.is_list")[t]}}function fn(e,t){let s=e.column("graph.row.parent"),n=e.strings("graph.row.labels"),i=[];for(let o=t;o>0;o=s[o])i.unshift(n.at(o));return i.join("/")||(t>=0?n.at(t):"unknown")}function un(e,t){let{graph:s}=e.header,n=fn(e,e.column("graph.box.row")[t]);return s.is_differentiated?`${n}, ${s.phases[e.column("graph.box.phase")[t]]}`:n}function Wr(e,t){let s=a=>e.column(`graph.box.${a}`)[t],[n,i,o,r]=["kernels","matmuls","inferred","iterations"].map(s);return[S(n,"kernel"),i?S(i,"matmul"):"",o?`${b(o)} placed by inference`:"",r>1?`per iteration, ${b(r)} per call`:""].filter(Boolean)}function Dr(e,t,s){let n=v=>e.column(`graph.kernel.${v}`),[i,o,r,a,l,c,h,d,f]=["opcode","label","how","runs","bytes","matmuls","flops","spot","entity"].map(n),u=e.header.graph.measured?n("time"):[],m=e.strings("graph.kernel.names"),g=e.strings("graph.labels"),x=e.strings("graph.opcodes"),w=e.strings("graph.arguments"),y=new Map([...e.column("graph.collective.kernel")].map((v,j)=>[v,j]).reverse()),$=Fr(e,t);return t.map(v=>({kernel:v,name:m.at(v),label:g.at(o[v]),opcode:x.at(i[v]),bytes:l[v],runs:a[v],time:u[v]??-1,matmuls:c[v],flops:h[v],collective:y.get(v)??-1,entity:f[v],spot:d[v],how:Ir[e.header.graph.hows[r[v]]]??"",mixes:$.get(v)??[],args:[...s.get(v)??[]].map(j=>w.at(j)||`argument ${j}`)}))}function Fr(e,t){let s=c=>e.column(`graph.mix.${c}`),[n,i,o,r]=["kernel","row","phase","instructions"].map(s),a=new Set(t),l=new Map;return n.forEach((c,h)=>{if(!a.has(c))return;let d=e.header.graph.is_differentiated?`, ${e.header.graph.phases[o[h]]}`:"";l.set(c,[...l.get(c)??[],`${fn(e,i[h])}${d} (${S(r[h],"instruction")})`])}),l}function Hr(e,t,s){let[n,i,o,r,a]=["ends","source","element","carried","bytes"].map(g=>e.column(`graph.read.${g}`)),l=e.column("graph.sizes"),c=e.column("graph.kernel.box"),h=new Map,d=new Map,f=new Map,u=new Map;for(let g=0,x=0;g<c.length;g++)for(let[,w]=E(n,g);x<w;x++){let y=i[x],$=c[g]===t;if(y<-1&&$&&hn(h,g).add(-2-y),y<0||!$&&c[y]!==t)continue;let v=!!r[x],j={name:`${y}.${o[x]}`,bytes:l[a[x]]??0,isLater:v};$?c[y]!==t?Oe(f,c[y],s.get(g),j):v?Oe(f,-1,s.get(g),j):y<g&&hn(d,s.get(y)).add(s.get(g)):Oe(u,c[g],s.get(y),j)}return{edges:[...d].sort((g,x)=>g[0]-x[0]).flatMap(([g,x])=>[...x].map(w=>[g,w])),args:h,into:f,outof:u}}function hn(e,t){let s=e.get(t)??new Set;return e.set(t,s),s}function Oe(e,t,s,n){let i=e.get(t)??{kernels:new Set,values:new Map,isLater:!0};e.set(t,i),i.kernels.add(s),i.values.set(n.name,n.bytes),i.isLater&&=n.isLater}function qr(e,t,s,n){return t<0?"the iteration before":`${un(e,t)}${s?n?", the iteration before":", the next iteration":""}`}function pn(e,t,s){let n=[...t].map(([l,c])=>({isIn:s,box:l,words:qr(e,l,c.isLater,s),more:[],bytes:[...c.values.values()].reduce((h,d)=>h+d,0),kernels:[...c.kernels].sort((h,d)=>h-d)})).sort((l,c)=>c.bytes-l.bytes||l.box-c.box),i=n.length>cn?n.slice(0,cn-1):n,o=n.slice(i.length);if(!o.length)return i;let r=o.map(l=>`${l.words}: ${k(l.bytes)}`),a=[...new Set(o.flatMap(l=>l.kernels))].sort((l,c)=>l-c);return[...i,{isIn:s,box:-1,words:`${S(o.length,"box").replace(/boxs$/,"boxes")} more`,more:r,bytes:o.reduce((l,c)=>l+c.bytes,0),kernels:a}]}function Qt(e,t){let s=e.runs===1?"":e.runs<0?", run unknown times":`, run ${b(e.runs)} times per call`,n=e.args.slice(0,8).join(", ")+(e.args.length>8?` and ${e.args.length-8} more`:""),i=e.mixes.slice(0,4);return e.mixes.length>4&&i.push(`${e.mixes.length-4} more`),[mt(e,t),`${e.name} (${e.opcode})`,`result ${e.bytes<0?"of unknown size":k(e.bytes)}${s}`,e.matmuls?`${S(e.matmuls,"matmul")}${e.flops<0?"":`, ${ft(e.flops)}`}`:"",e.time<0?"":`${tt(e.time)} per call (measured, slowest device)`,n&&`takes ${n}`,e.how&&`stands here by inference: ${e.how}`,i.length?`of several scopes, also ${i.join("; ")}`:""].filter(Boolean)}function mt(e,t){let s=Ot(e,t);return s?`${t.header.collectives[t.column("graph.collective.row")[e.collective]]?.kind??e.opcode} over ${s.words}`:e.label}function Ot(e,t){let s=e.collective<0?void 0:t.header.collectives[t.column("graph.collective.row")[e.collective]];return s?t.header.axis_sets[s.axes]:null}var Ur={title:"600 11px system-ui, sans-serif",name:"10px ui-monospace, monospace",arg:"italic 10px system-ui, sans-serif"},mn=13,Ae=7,Kr=210;function gn(e,t){let s=document.createElement("canvas").getContext("2d"),n=e.kernels.map((c,h)=>({lines:Xr(c,t),kernel:h,stub:-1})),i=e.stubs.map((c,h)=>({lines:Gr(c),kernel:-1,stub:h})),o=[...n,...i].map(c=>({...c,lines:c.lines.map(h=>({kind:h.kind,words:Vr(s,h,Kr-2*Ae)}))})),r=o.map(c=>({width:Math.ceil(Math.max(44,...c.lines.map(h=>xn(s,h))))+2*Ae,height:c.lines.length*mn+8})),a=e.stubs.flatMap((c,h)=>c.kernels.map(d=>c.isIn?[n.length+h,d]:[d,n.length+h])),l=[...e.edges,...a];return{nodes:o,edges:l,picture:Yt({nodes:r,edges:l},{width:900})}}function Xr(e,t){let s=e.args.length>1?`\u2190 ${e.args[0]} +${e.args.length-1}`:`\u2190 ${e.args[0]}`;return[{kind:"title",words:e.matmuls&&e.collective<0?`\xD7 ${mt(e,t)}`:mt(e,t)},{kind:"name",words:e.bytes<0?e.name:`${e.name} ${k(e.bytes)}`},...e.args.length?[{kind:"arg",words:s}]:[]]}function Gr(e){return[{kind:"arg",words:`${e.isIn?"from":"to"} ${e.words}`},{kind:"name",words:k(e.bytes)}]}function xn(e,t){return e?(e.font=Ur[t.kind],e.measureText(t.words).width):t.words.length*6.2}function Vr(e,t,s){let n=[...t.words].slice(0,200),i=n.length,o=t.words.length>200?n.join(""):t.words;for(;i>4&&xn(e,{kind:t.kind,words:o})>s;){i-=1;let r=n.slice(0,Math.ceil(i*.45)).join(""),a=n.slice(n.length-Math.floor(i*.55)).join("");o=`${r}\u2026${a}`}return o}function wn(e,t,s,n){let i=new Te(e,t,s,n);return{element:i.svg,update:()=>i.update(),focus:()=>i.nodes[Math.max(0,i.current)]?.focus({preventScroll:!0}),reveal:()=>i.current>=0&&St(i.nodes[i.current])}}var Te=class{constructor(t,s,n,i){this.store=t,this.content=s,this.dag=n,this.moves=i,this.data=t.data,this.current=-1;let{picture:o}=n,r=Math.max(1,...s.kernels.map(h=>h.bytes));this.edges=n.edges.map(([h],d)=>M("g",{class:"edge"},this.edge(o.routes[d],this.weight(h,r)))),this.nodes=n.nodes.map((h,d)=>this.node(h,o.boxes[d],d));let a=12,l=o.width+2*a,c=o.height+2*a;this.wires=M("g",{class:"wires"},this.edges),this.svg=M("svg",{class:"dag",role:"listbox","aria-label":`Kernels of ${s.title}: arrows walk along the graph`,viewBox:`${-a} ${-a} ${l} ${c}`,width:l,height:c,style:{"--dag-width":`${l}px`}},this.wires,this.nodes),this.svg.addEventListener("keydown",h=>this.key(h)),this.tip=U(this.svg)}weight(t,s){let n=this.content.kernels[t]?.bytes??this.content.stubs[t-this.content.kernels.length].bytes;return 1+1.5*Math.max(0,Math.min(1,1+Math.log2(Math.max(1,n)/s)/12))}edge(t,s){let[n,i]=t[t.length-1];return[M("polyline",{points:t.map(o=>o.join(",")).join(" "),"stroke-width":s.toFixed(2)}),M("path",{class:"tip",d:`M${n-3.5} ${i-5.5}h7L${n} ${i}z`})]}node(t,s,n){let i=this.content.kernels[t.kernel],o=i?Ot(i,this.data):null,r=i?Qt(i,this.data):this.stubLines(t.stub),a=i?o?`move ${O(o.axes,this.store.first.axes)}`:i.matmuls?"matmul":"plain":"stub";return M("g",{class:`kernel ${a}${i?.mixes.length?" mixed":""}`,role:"option",tabindex:n?-1:0,"aria-label":r.join("; "),"aria-selected":"false",transform:`translate(${s.x} ${s.y})`,onclick:()=>this.choose(n,!0),onpointermove:c=>this.tip.show(r,c.clientX,c.clientY),onpointerleave:()=>this.tip.hide()},M("rect",{width:s.width,height:s.height,rx:o?9:3}),a==="matmul"?M("rect",{class:"side",width:3,height:s.height}):null,t.lines.map((c,h)=>M("text",{class:c.kind,x:Ae,y:4+mn*(h+.78)},c.words)))}stubLines(t){let s=this.content.stubs[t];return[`${s.isIn?"from":"to"} ${s.words}`,`${k(s.bytes)} of distinct values (counted)`,...s.more.slice(0,12),s.box>=0?"Enter or click opens it":""].filter(Boolean)}choose(t,s){let n=this.dag.nodes[t],i=this.content.stubs[n.stub];if(this.tip.hide(),i&&s&&i.box>=0)return this.moves.show(i.box);this.current=t,this.nodes[t].focus({preventScroll:!0}),St(this.nodes[t]),i||lt(this.store,this.content.kernels[n.kernel]),this.mark()}update(){let t=s=>{let n=this.content.kernels[this.dag.nodes[s]?.kernel];return!!n&&ct(this.store,n)};(this.current<0||!t(this.current))&&(this.current=this.dag.nodes.findIndex((s,n)=>t(n))),this.mark()}mark(){let{dag:t,current:s,store:n}=this,i=new Set;t.edges.forEach(([o,r],a)=>{let l=s>=0&&(o===s||r===s);l&&i.add(o).add(r),this.edges[a].classList.toggle("lit",l),l&&this.wires.append(this.edges[a])}),this.svg.classList.toggle("chosen",s>=0),this.nodes.forEach((o,r)=>{let a=this.content.kernels[t.nodes[r].kernel],l=r===s||!!(a&&ct(n,a));o.setAttribute("aria-selected",String(l)),o.classList.toggle("near",i.has(r)&&r!==s),o.setAttribute("tabindex",r===Math.max(0,s)?"0":"-1")})}key(t){let s=this.nodes.findIndex(i=>i===t.target);if(s<0)return;let n=Gt(t,s,this.dag.picture.boxes,this.dag.edges);n!==void 0&&(t.preventDefault(),t.stopPropagation(),this.choose(n,n===s&&(t.key==="Enter"||t.key===" ")))}};var bn=300;function vn(e,t,s){let n=e.data,i=bn,o=[],r=p("div",{class:`boxrows${t.kernels.some(f=>f.args.length)?"":" noargs"}`,role:"listbox","aria-label":`Kernels of ${t.title}`,onkeydown:f=>{let u=o.indexOf(f.target),m=f.key==="Enter"||f.key===" "?u:W(f,u,o.length);m===null||u<0||(f.preventDefault(),f.stopPropagation(),o[m].focus(),lt(e,t.kernels[m]))}}),a=()=>o.forEach((f,u)=>f.setAttribute("aria-selected",String(ct(e,t.kernels[u])))),l=()=>{o=t.kernels.slice(0,i).map((f,u)=>Yr(e,n,f,u)),r.replaceChildren(...o),a(),c.hidden=t.kernels.length<=i,c.textContent=`${b(t.kernels.length-i)} more`},c=p("button",{type:"button",class:"more",onclick:()=>{i+=bn*4,l()}});l();let h=p("div",{class:"boxlist"},yn(t,s,!0),r,c,yn(t,s,!1)),d=()=>o.find(f=>f.getAttribute("aria-selected")==="true");return{element:h,update:a,focus:()=>(d()??o[0])?.focus({preventScroll:!0}),reveal:()=>{let f=d();f&&St(f)}}}function Yr(e,t,s,n){let i=Ot(s,t),o=i?t.header.collectives[t.column("graph.collective.row")[s.collective]].kind:"kernel",r=s.args.length?`\u2190 ${s.args.slice(0,3).join(", ")}${s.args.length>3?` +${s.args.length-3}`:""}`:"";return p("div",{class:`boxrow ${i?O(i.axes,e.first.axes):"ax-none"}${s.mixes.length?" mixed":""}`,role:"option",tabindex:n?-1:0,title:Qt(s,t).join(`
`),onclick:()=>lt(e,s)},q(o),p("span",{class:"name"},p("bdi",{},`${s.matmuls&&!i?"\xD7 ":""}${mt(s,t)}`)),p("span",{class:"code dim name"},p("bdi",{},s.name)),p("span",{class:"dim name args"},r?p("bdi",{},r):null),p("span",{class:"size"},s.bytes<0?"":k(s.bytes)))}function yn(e,t,s){let n=e.stubs.filter(i=>i.isIn===s);return n.length?p("p",{class:"boxstubs dim"},s?"from ":"to ",n.flatMap((i,o)=>{let r=`${i.words} ${k(i.bytes)}`,a=i.box<0?p("span",{title:i.more.join(`
`)},r):p("button",{type:"button",class:"link",onclick:()=>t.show(i.box)},r);return[o?" \xB7 ":"",a]})):null}var Jr=1600,Zr=160,Qr=1.8,kn=new WeakMap;function Ee(e,t,s,n=()=>{},i=!1){let{data:o}=e;if(!o||o.header.graph?.missing)return()=>{};kn.get(s)?.();let r=s.getRootNode().activeElement,a=p("section",{class:i?"boxpane quiet":"boxpane",role:"region"});for(let f of["pointerdown","focusin"])a.addEventListener(f,()=>a.classList.remove("quiet"));let l=()=>{c(),a.isConnected&&(a.remove(),n(-1),r?.isConnected&&r.focus({preventScroll:!0}))},c=()=>{},h=i,d=f=>{c(),c=ta(e,a,f,{close:l,show:d},h),h=!1,n(f)};return a.addEventListener("keydown",f=>{f.key==="Escape"&&(f.stopPropagation(),f.preventDefault(),l())}),s.append(a),kn.set(s,l),d(t),l}function ta(e,t,s,n,i){let o=e.data,r=dn(o,s),a=r.kernels.length>Zr||r.isList?null:gn(r,o),l=a!==null&&a.picture.width<=Jr,c=!l||a.picture.width>Qr*t.clientWidth,h=()=>{},d=p("div",{class:"boxbody"}),f=l?p("button",{type:"button",class:"button",onclick:()=>{c=!c,m(!0)}},"As list"):null,u=a&&!l?"Too wide to draw: a list.":r.isList?"Most kernels here are not connected: a list.":l?"":"Too many kernels to draw: a list.",m=g=>{h(),f&&(f.textContent=c?"As graph":"As list");let x=c||!a?vn(e,r,n):wn(e,r,a,n);d.replaceChildren(x.element),x.update(),h=ea(e,x.update),g||x.focus(),d.scrollLeft=(d.scrollWidth-d.clientWidth)/2,x.reveal()};return t.setAttribute("aria-label",`Inside ${r.title}`),t.replaceChildren(p("header",{class:"boxhead"},p("h3",{class:"boxtitle"},p("bdi",{},r.title)),p("div",{class:"boxbuttons"},f,p("button",{type:"button",class:"button","aria-label":"Close (Escape)",title:"Close (Escape)",onclick:n.close},"\xD7 Close")),p("p",{class:"dim boxfacts"},`${r.facts.join(" \xB7 ")}. Attribution of kernels to boxes is modelled. ${u}`)),d),m(i),()=>h()}var $n=new WeakMap;function ea(e,t){let s=$n.get(e);if(!s){let i=s={update:t};$n.set(e,i),e.listen(o=>o.has("selection")&&i.update())}let n=s;return n.update=t,()=>{n.update===t&&(n.update=()=>{})}}var sa={"all-gather":"AG","all-reduce":"AR","reduce-scatter":"RS","all-to-all":"A2A","collective-permute":"perm","collective-broadcast":"bcast","ragged-all-to-all":"RA2A"},na={"collective-permute":"permute","collective-broadcast":"broadcast","ragged-all-to-all":"ragged a2a"},At=e=>sa[e]??e;function ia(e){let t=[...new Set(e)];return new Map(t.map(s=>{let n=1;for(;n<s.length&&t.some(i=>i!==s&&i.startsWith(s.slice(0,n)));)n++;return[s,s.slice(0,n)]}))}var te=class{constructor(t,s){this.graph=t,this.sets=s,this.mode="phase",this.initials=ia(s.flatMap(n=>(n.axes??[]).map(i=>i.split(":")[0])))}axes(t){let s=this.sets[t];return s.words==="axis unknown"?"":s.words}kind(t){let s=this.graph.header.kinds[t];return na[s]??s}phase(t){return this.graph.header.is_differentiated?this.graph.phases[t]:"program"}cell(t){let{graph:s}=this,n=t.row?s.path(t.row):"the whole program";return s.header.is_differentiated?`${this.phase(t.phase)} \xB7 ${n}`:n}heads(t){let s=S(t.kernels,this.graph.work);return t.matmuls?[`${s} \xB7 ${S(t.matmuls,"matmul")}`,s,b(t.kernels)]:[s,b(t.kernels)]}right(t){return this.mode==="time"?t.time<0?"":tt(t.time):t.iterations>1?`per trip, \xD7${b(t.iterations)}`:t.iterations<0?"per trip":this.mode==="bytes"?t.bytes?k(t.bytes):"":t.matmuls&&t.flops>0?ft(t.flops):""}rights(t){let s=this.right(t);return t.iterations===1||this.mode==="time"?[s]:[s,"per trip","\u21BB"]}line({type:t,of:s}){if(t==="more")return{words:[`${S(s,"more difference")}`,`+${b(s)}`],figure:""};let n=this.kind(s.kind),i=At(this.graph.header.kinds[s.kind]),o=this.axes(s.axes);if(t==="move"){let c=`${b(s.count)}\xD7`,h=`${s.count>1?`${c} `:""}${i} ${o.replace(/ \u00d7 /g,"\xD7")}`;return{words:[`${c} ${n}  ${o}`,`${c} ${i} ${o}`,h],figure:k(s.bytes)}}if(t==="share")return{words:[`in a combined ${n} ${o}`,`in combined ${i} ${o}`,`in ${i} ${o}`],figure:k(s.bytes)};let r=s.members.length>2?`${s.members.length} others`:s.members.map(c=>this.graph.label(c)).join(", "),a=s.members.length>2?r:r.replace(/[^\d, ]+/g,"")||r,l=s.count?`${s.count>0?"+":"\u2212"}${Math.abs(s.count)} `:"";return{words:[`${r}: ${l}${n} ${o}`,`${r}: ${l}${i} ${o}`,`${a}: ${l}${i} ${o}`],figure:`${s.bytes<0?"\u2212":"+"}${k(Math.abs(s.bytes))}`}}chip(t,s){if(t.type==="more")return{words:[`+${b(t.of)}`],figure:""};let{of:n}=t,i=this.axes(n.axes).replace(/ \u00d7 /g,"\xD7"),o=i.replace(/[^\u00d7]+/g,h=>{let[d]=h.split(":");return(this.initials.get(d)??d)+h.slice(d.length)}),r=n.count>1?`${b(n.count)}\xD7 `:"",a=At(this.graph.header.kinds[n.kind]),l=[i,o].map(h=>`${r}${a} ${h}`.trim()),c=yt(n.bytes);return s?{words:[l[1]],figure:c.replace("iB","")}:{words:l,figure:c}}contents(t){return t.type==="more"?t.rest:[t]}fullLine(t){let{words:s,figure:n}=this.line(t);return[s[0].replace(/\s+/g," "),n].filter(Boolean).join(" ")}flow(t){return t.bytes?t.outside&&t.members>1?`${k(t.bytes)} \xD7${t.members}`:k(t.bytes):t.members===1?`${k(t.total)} ${this.graph.label(t.member)}`:`${k(t.total)} in all`}flowWays(t){let s=t.bytes||t.total,n=t.bytes&&t.outside&&t.members>1?` \xD7${t.members}`:"",i=yt(s);return[this.flow(t),i+n,i,i.replace(/ (.).*/,"$1")]}fold(t){let{graph:s}=this,n=s.members[t],i=s.fold.shown[t],o=this._start(t),r=n.map((h,d)=>[h,s.fold.likeness[o+d]]).filter(([h,d])=>h!==i&&d<1),a=n.length-r.length,l=r.length<=2?r.map(([h,d])=>`${s.label(h)} ${rt(d)}`).join(", "):`${r.length} others ${rt(Math.min(...r.map(([,h])=>h)))} or more`,c=r.length?`${a>1?`${a} identical; `:""}${l} alike`:"all identical";return{name:s.words["fold.labels"](t),times:`\xD7${n.length}`,alike:c,shown:`shown: ${s.label(i)}`}}_start(t){return this.graph.members.slice(0,t).reduce((s,n)=>s+n.length,0)}row(t,s){let{graph:n}=this;return t.row<0||s?this.fold(t.fold).name:t.row===0?"the whole program":n.kind(t.row)==="loop"?`${n.label(t.row)}${this.trips(t.row)}`:n.label(t.row)}trips(t){let s=this.graph.row.trips[t];return s<0?", trips unknown":` \xD7${b(s)}`}box(t,s){let n=[this.heads(t)[0],this.right(t)].filter(Boolean).join(", "),i=s.flatMap(o=>this.contents(o));return[`${this.phase(t.phase)}: ${n}`,...i.map(o=>this.fullLine(o))].join("; ")}};function jn(e,t){let s=[];for(let n of e.view.items){let i=n.fold>=0&&e.view.isClosed[n.fold]===1,o="  ".repeat(n.depth),r=i?` ${t.fold(n.fold).times} (${t.fold(n.fold).shown})`:"";s.push(`${o}${t.row(n,i)}${r}`);for(let a of e.boxes){if(n.row<0||a.cell.row!==n.row)continue;let l=[t.heads(a.cell)[0],t.right(a.cell)].filter(Boolean).join(", ");s.push(`${o}  ${t.phase(a.cell.phase)}: ${l}`);let c=a.lines.flatMap(h=>t.contents(h));for(let h of c)s.push(`${o}    ${t.fullLine(h)}`)}}return s.join(`
`)}var oa=[["phase","phase"],["axis","mesh axis"],["sharding","sharding"],["bytes","bytes written"],["flops","FLOPs"],["time","time"]],ra=["text","dim","line","rule","bg","panel","picked","strong","select","band","flow","in","out","heat"],aa=["ax-0","ax-1","ax-2","ax-3","ax-many","ax-none"];function Sn(e,t){return oa.filter(([s])=>(s!=="sharding"||t)&&(s!=="time"||e.header.measured))}function On(e){let t=getComputedStyle(e),s=[...ra,...aa,...[0,1,2,3].flatMap(n=>[`ph-${n}`,`ph-${n}-fill`])];return Object.fromEntries(s.map(n=>[n,t.getPropertyValue(`--${n}`).trim()||t.color]))}function la(e,t,s){let[n]=e.cell.moves;return n?O(t[n.axes].axes,s):""}function ca(e,t,s){let n=e.cell.boxes.map(i=>t?.get(i)).filter(i=>i!==void 0);return n.length?O(n[0],s):""}function An(e,t,s,{sets:n,all:i,shardings:o}){if(e==="axis"||e==="sharding")return r=>{let a=e==="axis"?la(r,n,i):ca(r,o,i);return a?[Mn(s,s[a],.2),s[a]]:[s.bg,s.line]};if(e==="bytes"||e==="flops"||e==="time"){let r=Math.max(1,...t.boxes.map(a=>a.cell[e]));return a=>[a.cell[e]>0?Mn(s,s.heat,.06+.5*Math.sqrt(a.cell[e]/r)):s.bg,s.line]}return({cell:r})=>[s[`ph-${r.phase}-fill`],s[`ph-${r.phase}`]]}function Mn(e,t,s){let[n,i]=[e.bg,t].map(ha);return!n||!i?t:`rgb(${n.map((o,r)=>Math.round(o+(i[r]-o)*s)).join(" ")})`}function ha(e){let t=e.match(/^#([0-9a-f]{3}|[0-9a-f]{6})$/i)?.[1];return t?t.length===3?[...t].map(s=>parseInt(s+s,16)):[0,2,4].map(s=>parseInt(t.slice(s,s+2),16)):e.match(/^rgba?\(([^)]*)\)/)?.[1].split(/[\s,/]+/).slice(0,3).map(Number)??null}function pa(e,t){let s=e,n=Math.max(0,...t.boxes.map(o=>o.cell[s])),i=t.boxes.some(o=>o.cell.slowest>=0);return e==="time"?`most: ${tt(n)} per call (measured, slowest device${i?", slowest of equal layers":""})`:e==="bytes"?`most: ${k(n)}`:"most FLOPs"}function Tn(e,t,s,n,i){let o=(d,f,u="")=>p("span",{class:"key"},p("i",{class:`swatch ${u}`,style:{"--c":d}}),f),a=[...new Set(s.boxes.flatMap(d=>d.cell.moves.map(f=>f.axes)))].map(d=>o(`var(--${O(n[d].axes,i)})`,n[d].words,"bar")),l=s.short||s.chipWidth?[...new Set(s.boxes.flatMap(d=>d.cell.moves.map(f=>t.header.kinds[f.kind])))].filter(d=>At(d)!==d).map(d=>`${At(d)} ${d}`):[],c=`${t.header.measured}. The profiler slows the program; a collective's time includes waiting.`;return[...e==="phase"?[]:e==="axis"?[p("span",{class:"key"},"box: the axis with most bytes")]:e==="sharding"?[p("span",{class:"key"},"box: what most bytes of the values on its lines are split over (modelled)"),o("var(--ax-none)","replicated"),o("var(--ax-many)","several axes"),...i.map(d=>o(`var(--${O([d],i)})`,d))]:[p("span",{title:e==="time"?c:void 0},o("var(--heat)",pa(e,s)))],...e==="sharding"?[]:a,...l.length?[p("span",{class:"key"},l.join(", "))]:[]]}var En=0;var Tt=2,ht=3,Ce=class{constructor(t){let s=i=>t.column(`graph.${i}`),n=(i,o)=>Object.fromEntries(o.map(r=>[r,s(`${i}.${r}`)]));this.header=t.header.graph,this.work=t.header.work,this.phases=this.header.phases,this.columns=this.header.columns,this.row=n("row",["parent","kind","trips","fold","shown_as"]),this.box=n("box",["row","phase","kernels","inferred","matmuls","flops","flops_per_call","iterations","bytes","is_list"]),this.boxTime=this.header.measured?s("box.time"):new Float64Array(0),this.move=n("move",["kind","axes","runs","bytes","ends"]),this.mention=n("mention",["collective","operands","bytes","ends"]),this.collective=n("collective",["row","box","kernel","bytes"]),this.kernel=n("kernel",["opcode","label","box","how","loop","runs","bytes","matmuls","flops","spot","entity","line"]),this.mix=n("mix",["kernel","row","phase","instructions"]),this.read=n("read",["ends","source","operand","element","carried","bytes"]),this.arrow=n("arrow",["source","target","values","bytes","carried"]),this.fold=n("fold",["shown","likeness","essential"]),this.sizes=s("sizes"),this._lists={children:["row.children","row.children.ends"],members:["fold.members","fold.members.ends"],numbers:["move.collectives","move.collectives.ends"]},this._columns=Object.fromEntries(Object.entries(this._lists).map(([i,o])=>[i,o.map(s)])),this.words=Object.fromEntries(["row.labels","row.holds","fold.labels","kernel.names","opcodes","labels","arguments"].map(i=>[i,da(t.strings(`graph.${i}`))])),this.rows=this.row.parent.length,this.boxes=this.box.row.length,this.kernels=this.kernel.box.length,this.folds=this.fold.shown.length,this.children=this._all("children",this.rows),this.members=this._all("members",this.folds),this._place=new Map(this.members.flatMap(i=>i.map((o,r)=>[o,r]))),this._kernels=null}_all(t,s){let[n,i]=this._columns[t];return Array.from({length:s},(o,r)=>[...n.subarray(...E(i,r))])}label(t){return this.words["row.labels"](t)}path(t){let s=[];for(let n=t;n>0;n=this.row.parent[n])s.unshift(this.label(n));return s.join(" / ")||this.label(t)}kind(t){return this.header.row_kinds[this.row.kind[t]]}place(t){return this._place.get(t)??-1}collectives(t){let[s,n]=this._columns.numbers;return s.subarray(...E(n,t))}kernelsOf(t){if(!this._kernels){this._kernels=Array.from({length:this.boxes},()=>[]);for(let s=0;s<this.kernels;s++)this._kernels[this.kernel.box[s]]?.push(s)}return this._kernels[t]}};function da(e){let t=[];return s=>t[s]??=e.at(s)}function Cn(e){return!e?.header.graph||e.header.graph.missing?null:new Ce(e)}var fa=6;function Ln(e,t,{flows:s=!0}={}){let{stand:n,vis:i,isClosed:o}=ua(e,t),r=xa(e,n,i,o);$a(e,r,n,i,o),Sa(e,r,n,i);let l={items:ga(e,t,o),cells:r,flows:[],stand:n,vis:i,isClosed:o};return s&&(l.flows=Oa(e,l)),l}var L=(e,t)=>e*4+t;function ua(e,t){let{parent:s,fold:n,shown_as:i}=e.row,o=new Int32Array(e.rows),r=new Int32Array(e.rows),a=new Uint8Array(e.folds),l=new Map,c=d=>n[d]>=0&&a[n[d]]?e.fold.shown[n[d]]:d,h=(d,f)=>{l.has(f)||l.set(f,new Map([...e.children[f]].reverse().map(m=>[i[m],m])));let u=l.get(f)?.get(i[d]);return u===void 0?ma(e,f,c):c(u)};for(let d=1;d<e.rows;d++){let f=s[d],u=r[f]===f&&t.open.has(f);o[f]!==f?o[d]=u||t.open.has(o[f])?h(d,o[f]):o[f]:(n[d]>=0&&u&&!t.unfolded.has(n[d])&&(a[n[d]]=1),o[d]=c(d)),r[d]=u?d:r[f]}return{stand:o,vis:r,isClosed:a}}function ma(e,t,s){let n=t;for(;e.children[n].length;)n=s(e.children[n][0]);return n}function ga(e,t,s){let n=[],i=(r,a)=>{let l=t.open.has(r)&&e.children[r].length>0,c={row:r,fold:e.row.fold[r],depth:a,isOpen:l,isUnfolded:!1,count:0},h=n.push(c);l&&o(r,a+1),c.count=n.length-h},o=(r,a)=>{let l=new Set;for(let c of e.children[r]){let h=e.row.fold[c];if(h<0)i(c,a);else if(!l.has(h)){if(l.add(h),s[h]){i(e.fold.shown[h],a);continue}let d={row:-1,fold:h,depth:a,isOpen:!0,isUnfolded:!0,count:0},f=n.push(d);e.members[h].forEach(u=>i(u,a+1)),d.count=n.length-f}}};return o(0,0),n.length||n.push({row:0,fold:-1,depth:0,isOpen:!1,isUnfolded:!1,count:0}),n}function xa(e,t,s,n){let{box:i}=e,o=new Map,r=ba(e,n);for(let a=0;a<e.boxes;a++){let l=i.row[a],c=i.phase[a];if(t[l]!==l)continue;let h=L(s[l],c),d=o.get(h),f=d??{row:s[l],phase:c,boxes:[],times:r[l],kernels:0,inferred:0,matmuls:0,flops:0,iterations:i.iterations[a],bytes:0,time:-1,slowest:-1,moves:[],shares:[],differences:[],parts:[]};d||o.set(h,f),f.boxes.push(a),f.kernels+=i.kernels[a],f.inferred+=i.inferred[a],f.matmuls+=i.matmuls[a],f.flops=f.flops<0||i.flops[a]<0?-1:f.flops+i.flops[a],f.bytes+=i.bytes[a],f.iterations!==i.iterations[a]&&(f.iterations=i.iterations[a]===1||f.iterations===1?1:-1),ya(e,f,a),va(e,f,a)}for(let a of o.values())a.moves.sort((l,c)=>c.bytes-l.bytes),a.shares=a.shares.filter(l=>l.collectives.some(c=>!a.boxes.includes(e.collective.box[c]))),a.shares.sort((l,c)=>c.bytes-l.bytes);return e.boxTime.length&&wa(e,t,s,n,o),o}function wa(e,t,s,n,i){let o=new Int32Array(e.rows).fill(-1);for(let a=1;a<e.rows;a++){let l=e.row.fold[a];o[a]=l>=0&&n[l]?a:o[e.row.parent[a]]}let r=new Map;for(let a=0;a<e.boxes;a++){let l=e.box.row[a],c=i.get(L(s[t[l]],e.box.phase[a]));if(!c||e.boxTime[a]<0)continue;let h=`${c.row} ${c.phase} ${o[l]}`,d=(r.get(h)??0)+e.boxTime[a];r.set(h,d),(d>c.time||c.slowest===o[l])&&([c.time,c.slowest]=[d,o[l]])}}function ba(e,t){let s=new Int32Array(e.rows).fill(1);for(let n=1;n<e.rows;n++){let i=e.row.fold[n];s[n]=s[e.row.parent[n]]*(i>=0&&t[i]?e.members[i].length:1)}return s}function zn(e,t,s){let n=e.find(i=>i.kind===t&&i.axes===s);return n||e.push(n={kind:t,axes:s,count:0,bytes:0,runs:0,collectives:[]}),n}function ya(e,t,s){let[n,i]=E(e.move.ends,s);for(let o=n;o<i;o++){let r=zn(t.moves,e.move.kind[o],e.move.axes[o]),a=e.collectives(o);r.count+=a.length,r.bytes+=e.move.bytes[o],r.runs=r.runs<0||e.move.runs[o]<0?-1:r.runs+e.move.runs[o],r.collectives.push(...a)}}function va(e,t,s){let[n,i]=E(e.mention.ends,s);for(let o=n;o<i;o++){let r=e.mention.collective[o],a=ka(e,r);if(a<0)continue;let l=zn(t.shares,e.move.kind[a],e.move.axes[a]);l.collectives.includes(r)||l.collectives.push(r),l.count=l.collectives.length,l.bytes+=e.mention.bytes[o]}}function ka(e,t){let[s,n]=E(e.move.ends,e.collective.box[t]);for(let i=s;i<n;i++)if(e.collectives(i).includes(t))return i;return-1}function $a(e,t,s,n,i){for(let[o,r]of Ma(e,s,n,i)){let a=e.fold.shown[o],l=r.get(a)??new Map;for(let c of e.members[o]){if(c===a)continue;let h=r.get(c)??new Map;for(let d of new Set([...l.keys(),...h.keys()])){let[f,u]=h.get(d)??[0,0],[m,g]=l.get(d)??[0,0];if(f===m&&u===g)continue;let[x,w,y]=d.split(",").map(Number);ja(t.get(x),c,w,y,f-m,u-g)}}}}function ja(e,t,s,n,i,o){if(!e)return;let r=e.differences.find(a=>a.kind===s&&a.axes===n&&a.count===i&&a.bytes===o);r?r.members.push(t):e.differences.push({members:[t],kind:s,axes:n,count:i,bytes:o})}function Ma(e,t,s,n){let i=new Map;for(let o=0;o<e.folds;o++)n[o]&&i.set(o,new Map);for(let o=0;o<e.boxes;o++){let[r,a]=E(e.move.ends,o);for(let l=r<a?e.box.row[o]:-1;l>0;l=e.row.parent[l]){let c=i.get(e.row.fold[l]);if(!c)continue;c.has(l)||c.set(l,new Map);let h=c.get(l),d=L(s[t[e.box.row[o]]],e.box.phase[o]);for(let f=r;f<a;f++){let u=`${d},${e.move.kind[f]},${e.move.axes[f]}`,m=h.get(u)??[0,0];h.set(u,[m[0]+e.collectives(f).length,m[1]+e.move.bytes[f]])}}}return i}function Sa(e,t,s,n){let{kernel:i,row:o,phase:r,instructions:a}=e.mix;for(let l=0;l<i.length;l++){let c=e.kernel.box[i[l]],h=e.box.row[c];if(s[h]!==h)continue;let d=L(n[h],e.box.phase[c]),f=L(n[s[o[l]]],r[l]);if(d===f)continue;let u=[i[l],o[l],r[l],a[l]];t.get(d)?.parts.push(u),t.get(f)?.parts.push(u)}}function Oa(e,{cells:t,items:s,stand:n,vis:i,isClosed:o}){let{source:r,target:a,bytes:l}=e.arrow,c=Ta(e,o),h=Ca(e,c),d=Int32Array.from(e.box.row,(w,y)=>L(i[n[w]],e.box.phase[y])),f=e.rows*4+4,u=e.folds+2,m=new Map;for(let w=0;w<r.length;w++){let y=d[r[w]],$=d[a[w]],v=e.box.row[r[w]],j=e.box.row[a[w]],{step:B,crossed:P}=h(v,j,e.box.phase[r[w]],e.box.phase[a[w]]);if(y===$&&B===ze)continue;let I=((y*f+$)*3+B)*u+P+1,Z=m.get(I);if(!Z){let[Pt,xs]=[t.get(y),t.get($)];if(!Pt||!xs)continue;m.set(I,Z={flow:{source:Pt,target:xs,relation:"",bytes:0,total:0,members:0,member:-1,times:1,crossed:P,outside:!1},own:0,leaving:0,entering:0,step:B,seen:new Set})}Aa(Z,l[w],n[v]===v,n[j]===j,c,v,j)}let g=La(s,t),x=[...m.values()].map(w=>za(e,w,g,o));return Ra(x.sort((w,y)=>y.total-w.total))}function Aa(e,t,s,n,i,o,r){let a=i.ids[o],l=i.ids[r];e.flow.total+=t,s&&n&&(e.own+=t),s&&(e.leaving+=t),n&&(e.entering+=t),e.seen.add(a*i.rows.length+l),e.flow.outside=i.rows[a].length!==i.rows[l].length;let c=i.rows[l].length?i.rows[l]:i.rows[a];c.length&&(e.flow.member=c[c.length-1])}function Ta(e,t){let s=new Int32Array(e.rows),n=[[]];for(let i=1;i<e.rows;i++){let o=s[e.row.parent[i]];s[i]=e.row.fold[i]>=0&&Ea(e,i,t)?n.push([...n[o],i])-1:o}return{ids:s,rows:n}}function Ea(e,t,s){let n=e.row.fold[t],i=e.row.fold[e.row.shown_as[t]];return!!(s[n]||i>=0&&s[i])}var ze=0,Le=1,Bn=2;function Ca(e,t){let s=new Map,n=(i,o)=>{let r=i.findIndex((a,l)=>a!==o[l]);return r<0||r>=o.length||e.row.fold[i[r]]!==e.row.fold[o[r]]?{fold:-1,onward:0}:{fold:e.row.fold[i[r]],onward:e.place(o[r])-e.place(i[r])}};return(i,o,r,a)=>{let l=t.ids[i],c=t.ids[o],h=l*t.rows.length+c,d=s.get(h);d||s.set(h,d=n(t.rows[l],t.rows[c]));let{fold:f,onward:u}=d;if(f<0)return{step:ze,crossed:-1};let m=r===a&&r!==ht&&u>0==(r!==Tt);return{step:Math.abs(u)===1&&m?Le:Bn,crossed:f}}}function La(e,t){let s=new Map,n=[0,0,0,0];for(let i of e)for(let o=0;o<4;o++){let r=t.get(L(i.row,o));r&&i.row>=0&&s.set(r,n[o]++)}return s}function za(e,t,s,n){let{flow:i,step:o}=t;return i.members=t.seen.size,i.bytes=o===ze?t.own:t.leaving||t.entering,i.times=Ba(e,i,n)-(o===Le?1:0),i.relation=o===Le?"next":o===Bn?"across":_a(e,i,s),i}function Ba(e,t,s){let n=new Set;for(let i of[t.source,t.target])for(let o=i.row;o>0;o=e.row.parent[o])e.row.fold[o]>=0&&s[e.row.fold[o]]&&n.add(e.row.fold[o]);return[...n].reduce((i,o)=>i*e.members[o].length,1)}function _a(e,t,s){let{source:n,target:i}=t;if(n.phase===i.phase){if(n.phase===ht)return"across";let r=s.get(n),l=(s.get(i)-r)*(n.phase===Tt?-1:1);return l<0?"against":l===1?"flow":"skip"}return(n.row===i.row||i.phase===ht&&Pa(e,i.row,n.row))&&i.phase>n.phase?"saved":"across"}function Pa(e,t,s){let n=s;for(;n>t;)n=e.row.parent[n];return n===t}function Ra(e){return e.filter(t=>t.relation==="skip"&&t.source.phase===En).slice(0,fa).forEach(t=>{t.relation="far skip"}),e}var se=24,X=17,Y=36,Na={gap:26,band:27,end:14,inset:10,least:se+3},Ia={gap:9,band:26,end:8,inset:6,least:24},_n=7,Wa=5,Da=2,Pn=3,Fa=60,Ha=1100,et=(e,t,s)=>Math.round(Math.max(e,Math.min(s,t)));function qa(e,t,s=!1){if(s)return Ua(e,t);let n=t<(e.length>3?900:640),i=et(n?96:104,.16*t,n?96:190),o=et(n?46:54,.075*t,n?46:84),r=n?24:t<900?32:46,a=e.length>1&&e[e.length-1]===ht?et(n?92:110,.14*t,n?92:164):0,l=e.length-(a?1:0),c=t-i-r-16-o*(e.length-1)-a,h=et(n?138:150,c/l,l>1?270:420),d=In(e,i+r,o,h,a),f=d[d.length-1];return{columns:d,labelWidth:i,gap:o,width:f.x+f.w+16,gutter:r,short:h<216}}function Ua(e,t){let s=et(78,.17*t,190),n=et(10,.035*t,30),i=14,o=e.length>1&&e[e.length-1]===ht?et(42,.13*t,120):0,r=e.length-(o?1:0),a=et(94,(t-s-i-10-n*(e.length-1)-o)/r,420),l=In(e,s+i,n,a,o),c=l[l.length-1];return{columns:l,labelWidth:s,gap:n,width:c.x+c.w+10,gutter:i,short:a<190}}function In(e,t,s,n,i){return e.map((o,r)=>({phase:o,x:t+r*(n+s),w:i&&r===e.length-1?i:n}))}function Et(e,t,{room:s,phases:n=e.columns,flows:i=!0,chipWidth:o}){let r=Ln(e,t,{flows:i}),c={...qa(n,s,!!o),measures:o?Ia:Na,chipWidth:o,boxes:[],bands:[],labels:[],arrows:[],pills:[],height:0,view:r,at:new Map};return Ga(c),Ya(c),o||el(e,c),c}function Ka(e,t){let s=e.differences.slice(0,Pn),n=[...Wn(e),...Be(s)],i=Be(e.differences.slice(Pn));return i.length&&n.push({type:"more",of:i.length,rest:i}),n.map((o,r)=>({...o,x:0,y:se+2+X*r,w:t}))}var Wn=e=>[...e.moves.map(t=>({type:"move",of:t})),...e.shares.map(t=>({type:"share",of:t}))],Be=e=>e.map(t=>({type:"difference",of:t}));function Xa(e,t,{chipWidth:s=()=>0,short:n}){let i=e.moves.map(a=>({type:"move",of:a})),o=[...Wn(e).slice(i.length),...Be(e.differences)],r=t-(e.iterations===1?8:24);for(let a=i.length;;a--){let l=[...i.slice(a),...o],c=i.slice(0,a);l.length&&c.push({type:"more",of:l.length,rest:l});let[h,d]=[0,0],f=c.map(u=>{let m=Math.min(s(u,n),r);h&&h+m>r&&([h,d]=[0,d+1]);let g={...u,x:5+h,y:3+(X+1)*d,w:m};return h+=m+Wa,g});if(d<Da||!a)return f}}function Rn({measures:e,chipWidth:t},{lines:s}){return s.length?s[s.length-1].y+X+(t?4:5):e.least}function Ga(e){let{items:t,cells:s}=e.view,{gap:n,band:i,end:o,inset:r,least:a}=e.measures,l=[],c=Y+12,h=d=>{for(;l.length&&l[l.length-1].end<=d;){let{band:f,spans:u}=l.pop(),m=Math.max(c-n,...u.map(g=>g.y+Rn(e,g)));for(let g of u)g.h=m-g.y;f.h=m+r-f.y,c=m+r+n-(l.length?r:0)}};t.forEach((d,f)=>{h(f);let u=d.row<0?[]:Va(e,d,s,c);if(d.isOpen){let m={item:d,x:6+d.depth*10,y:c,w:e.width-12-d.depth*20,h:0,depth:d.depth};e.bands.push(m),c+=i;for(let g of u)Object.assign(g,{y:c,isSpan:!0,isStack:!1});l.push({end:f+1+d.count,band:m,spans:u})}else{let m=Math.max(a,...u.map(g=>Rn(e,g)));for(let g of u)g.h=m;e.labels.push({item:d,x:14+d.depth*10,y:c,h:m,w:e.labelWidth-4-d.depth*10}),c+=m+n}}),h(t.length),e.height=c-n+o}function Va(e,t,s,n){let i=[];for(let o of e.columns){let r=s.get(L(t.row,o.phase));if(!r)continue;let a=t.fold>=0&&e.view.isClosed[t.fold]===1,{w:l}=o,c=e.chipWidth?Xa(r,l,e):Ka(r,l),h={cell:r,x:o.x,y:n,w:l,h:0,lines:c,isSpan:!1,isStack:a};e.at.set(L(t.row,o.phase),h),i.push(h)}return e.boxes.push(...i),i}var Nn=(e,t)=>e.at.get(L(t.row,t.phase));function Ya(e){let t={ends:[]};for(let s of e.view.flows){let n=Nn(e,s.source),i=Nn(e,s.target);if(!n||!i)continue;let o=s.relation==="flow"?Ja(e,n,i):s.relation==="saved"&&s.bytes>0?Za(e,n,i):s.relation==="far skip"?Qa(n,i,t,e.gutter):null;if(!o)continue;let r=s.relation==="far skip"?"skip":s.relation;e.arrows.push({flow:s,points:o,width:r==="skip"?Math.min(3,ee(s)):ee(s),kind:r})}}var ee=e=>Math.max(1,Math.min(9,.75*Math.log2(1+(e.bytes||e.total)/65536)));function Ja(e,t,s){if(t.isSpan||s.isSpan)return null;let n=Math.round(t.x+t.w/2),i=s.y>t.y,o=[[n,i?t.y+t.h:t.y],[n,i?s.y:s.y+s.h]];return Dn(e,o,t,s)?o:null}function Za(e,t,s){let n=Math.max(t.y,s.y),i=Math.min(t.y+t.h,s.y+s.h);if(i-n<10)return null;let o=Math.round((n+i)/2),r=[[t.x+t.w,o],[s.x,o]];return Dn(e,r,t,s)?r:null}function Qa(e,t,s,n){let i=e.y+e.h*.75,o=t.y+Math.min(t.h*.25,12),r=[Math.min(i,o),Math.max(i,o)],a=h=>h.every(([d,f])=>f<r[0]||d>r[1]),l=s.ends.findIndex(a);if(l<0&&(l=s.ends.push([])-1),l*_n>n-12)return null;s.ends[l].push(r);let c=e.x-10-_n*l;return[[e.x,i],[c,i],[c,o],[t.x,o]]}function Dn(e,t,s,n){return e.boxes.every(i=>i===s||i===n||!tl(t,i))}function tl(e,t){for(let s=1;s<e.length;s++){let[[n,i],[o,r]]=[e[s-1],e[s]];if(Math.max(n,o)>t.x&&Math.min(n,o)<t.x+t.w&&Math.max(i,r)>t.y&&Math.min(i,r)<t.y+t.h)return!0}return!1}function el(e,t){let s=new Map;for(let n of t.view.flows){if(n.relation!=="next")continue;let i=`${n.crossed},${n.source.phase}`,o=s.get(i)??sl(e,t,n);o&&(s.set(i,o),o.bytes+=n.total/Math.max(1,o.times))}t.pills.push(...s.values())}function sl(e,t,s){let{phase:n}=s.source,i=t.columns.find(a=>a.phase===n),o=t.bands.find(a=>a.item.fold===s.crossed&&!a.item.isUnfolded&&a.item.row>=0),r=o??t.at.get(L(e.fold.shown[s.crossed],n));return!i||!r?null:{flow:s,phase:n,x:i.x+i.w/2,y:n===Tt?r.y-(o?4:14):r.y+r.h+(o?0:9),bytes:0,times:e.members[s.crossed].length-1}}function _e(e,t){let s={open:new Set([0]),unfolded:new Set},n=new Set;for(let i=Et(e,s,{room:t,flows:!1});;){let o=nl(e,i,n);if(o<0)return s;s.open.add(o);let r=Et(e,s,{room:t,flows:!1});if(r.boxes.length<=Fa&&r.height<=Ha){i=r;continue}s.open.delete(o),n.add(o)}}function nl(e,t,s){let n=-1,i=0;for(let{item:o}of t.labels){if(o.row<=0||!e.children[o.row].length||s.has(o.row))continue;let r=t.columns.reduce((a,{phase:l})=>a+(t.at.get(L(o.row,l))?.cell.kernels??0),0);r>i&&([n,i]=[o.row,r])}return n}var gt='system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif',ne=`12px ${gt}`,F=`600 12px ${gt}`,T=`11px ${gt}`,pt=`600 11px ${gt}`,Fn=`italic 11px ${gt}`,ie=new Map;function C(e,t,s){let n=s+t,i=ie.get(n);return i===void 0&&(ie.size>2e4&&ie.clear(),e.font=s,ie.set(n,i=e.measureText(t).width)),i}function H(e,t,s,n){let i=t.find(l=>C(e,l,n)<=s);if(i!==void 0)return i;let o=t[t.length-1],r=0,a=o.length;for(;r<a;){let l=r+a+1>>1;C(e,`${o.slice(0,l)}\u2026`,n)<=s?r=l:a=l-1}return r?`${o.slice(0,r).trimEnd()}\u2026`:""}function qn(e,t,s){let{scale:n,ratio:i}=s;e.setTransform(i,0,0,i,0,0),e.fillStyle=s.colors.bg,e.fillRect(0,0,s.width,s.height),e.setTransform(i*n,0,0,i*n,-s.left*i,-s.top*i),e.textBaseline="middle";let o=s.top/n,r=(s.top+s.height)/n,a=l=>l.y-20<r&&l.y+l.h+20>o;for(let l of t.bands)a(l)&&ol(e,t,s,l);for(let l of t.arrows){let c=l.points.map(([,d])=>d),h=Math.min(...c);a({y:h,h:Math.max(...c)-h})&&Gn(e,l.points,l.width,ml(s,l),l.kind==="skip"?.45:.9)}for(let l of t.bands)a(l)&&rl(e,t,s,l);for(let l of t.labels)a(l)&&ll(e,t,s,l);for(let l of t.boxes)a(l)&&hl(e,s,l,t);for(let l of t.arrows)gl(e,t,s,l);for(let l of t.pills)wl(e,s,l,t.short);s.hover&&bl(e,t,s,s.hover),s.focus&&Pe(e,s.focus,s.colors.select,2),il(e,t,s)}function st(e,t,s,n,i,o){e.beginPath(),e.roundRect(t+.5,s+.5,n,i,o)}function Pe(e,t,s,n){e.strokeStyle=s,e.lineWidth=n,st(e,t.x-2,t.y-2,t.w+3,t.h+3,6),e.stroke()}function z(e,t,s,n,i,o){e.font=i,e.fillStyle=o,e.fillText(t,s,n)}function il(e,t,s){let{colors:n,words:i,scale:o,ratio:r}=s;e.setTransform(r*o,0,0,r*o,-s.left*r,0),e.fillStyle=n.bg,e.fillRect(s.left/o,0,s.width/o,Y-6);let{is_differentiated:a}=i.graph.header;for(let l of t.columns){let c=l.phase===2?"  \u2191":l.phase===3?"":"  \u2193",h=a?i.graph.phases[l.phase]:"in the order of the program";z(e,h+c,l.x+3,13,`600 13px ${gt}`,a?n[`ph-${l.phase}`]:n.text),e.fillStyle=n[`ph-${l.phase}`],e.fillRect(l.x,24,l.w,2)}}function ol(e,t,s,n){let{colors:i}=s,{item:o}=n,r=oe(t,o);if(e.lineWidth=1,e.strokeStyle=i.rule,r)for(let a of[6,3])st(e,n.x+a,n.y-a,n.w,n.h,4),e.stroke();e.fillStyle=n.depth%2?i.panel:i.band,e.strokeStyle=r||o.isUnfolded?i.line:i.rule,st(e,n.x,n.y,n.w,n.h,4),e.fill(),e.stroke()}var oe=(e,t)=>t.row>=0&&t.fold>=0&&e.view.isClosed[t.fold]===1;function Un(e,t,s,n){return H(t,[`\u25BE ${e.row(n.item,oe(s,n.item)||n.item.isUnfolded)}`],Math.max(120,n.w-20)*.6,F)}function rl(e,t,s,n){let{colors:i,words:o}=s,{item:r}=n,a=oe(t,r),l=Un(o,e,t,n),c=(y,$)=>{e.fillStyle=n.depth%2?i.panel:i.band,e.fillRect(y-3,n.y+5,$+6,18)};if(c(n.x+8,C(e,l,F)),z(e,l,n.x+8,n.y+14,F,i.text),!a&&!r.isUnfolded)return;let{times:h,alike:d,shown:f}=o.fold(r.fold),u=Ne(e,s,a?h:`${h} side by side`,n.x+16+C(e,l,F),n.y+14)+8,m=a?[`${d} \xB7 ${f}`,`${f} \xB7 ${d}`,f]:["click to fold"],[g,x]=al(t,u,n.x+n.w-8,C(e,m[0],T)),w=H(e,m,x,T);c(g,C(e,w,T)),z(e,w,g,n.y+14,T,i.dim)}function al(e,t,s,n){let i=e.columns.map(r=>r.x+r.w/2).filter(r=>r>t-8&&r<s),o=[t,...i.map(r=>r+10)].map((r,a)=>[r,(i[a]??s)-r-10]);return o.find(([,r])=>r>=n)??o.reduce((r,a)=>a[1]>r[1]?a:r)}var Re=(e,t)=>C(e,t,pt)+12;function Ne(e,t,s,n,i){let o=Re(e,s);return e.fillStyle=t.colors.text,st(e,n,i-8.5,o,16,8),e.fill(),z(e,s,n+6,i+.5,pt,t.colors.bg),n+o}function Kn(e,t,s,n){let{item:i}=n,o=oe(t,i);if(!o&&!i.isUnfolded)return null;let{times:r}=s.fold(i.fold);return{x:n.x+16+C(e,Un(s,e,t,n),F),y:n.y+5,w:Re(e,o?r:`${r} side by side`),h:18}}function ll(e,t,s,n){let{item:i,x:o,y:r,w:a}=n,{words:l,colors:c}=s,{graph:h}=l,d=i.fold>=0&&t.view.isClosed[i.fold]===1,f=h.children[i.row].length?"\u25B8 ":"",u=l.row(i,d);if(t.chipWidth){cl(e,s,n,f+u,d);return}let m=u.indexOf(", "),g=m>0&&C(e,f+u,F)>a;z(e,H(e,[f+(g?u.slice(0,m):u)],a,F),o,r+13,F,c.text);let x=g?u.slice(m+2):h.words["row.holds"](i.row);if(d){let{times:w,alike:y}=l.fold(i.fold),$=Ne(e,s,w,o,r+30);z(e,H(e,[y],a-($-o)-6,T),$+6,r+30,T,c.dim)}else x&&n.h>=27&&z(e,H(e,[x,x.split(", ")[0]],a,T),o,r+28,T,c.dim)}function cl(e,t,s,n,i){let{item:o,x:r,y:a,w:l}=s,{words:c,colors:h}=t,d=i?c.fold(o.fold).times:"",f=l-(d?Re(e,d)+6:0),u=H(e,[n,n.split(", ")[0]],f,F);z(e,u,r,a+12.5,F,h.text);let m=r+C(e,u,F)+6;if(d){Ne(e,t,d,m,a+12.5);return}let g=c.graph.words["row.holds"](o.row),x=r+l-m;g&&C(e,g,T)<=x?z(e,g,m,a+13,T,h.dim):g&&s.h>=38&&z(e,H(e,[g],l,T),r,a+28,T,h.dim)}function hl(e,t,s,n){let{colors:i}=t,{x:o,y:r,w:a,h:l,cell:c}=s,[h,d]=t.fillOf(s),f=t.found!==null&&!t.found.has(s);if(e.globalAlpha=f?.4:1,e.lineWidth=1,s.isStack)for(let g of[6,3])e.fillStyle=i.bg,e.strokeStyle=d,st(e,o+g,r-g,a,l,5),e.fill(),e.stroke();e.fillStyle=h,e.strokeStyle=d,st(e,o,r,a,l,5),e.fill(),e.stroke(),n.chipWidth?fl(e,t,s,d):pl(e,t,s),!n.chipWidth&&c.flops>0&&t.mostFlops&&(e.fillStyle=d,e.fillRect(o+1.5,r+l-3,Math.max(2,(a-2)*Math.sqrt(c.flops/t.mostFlops)),3));let u=t.lit.lines.get(s),m=n.chipWidth?ul:dl;s.lines.forEach((g,x)=>m(e,t,s,g,u?.has(x)??!1,f,n.short)),e.globalAlpha=1,t.lit.boxes.has(s)&&Pe(e,s,i.select,2)}function pl(e,t,s){let{colors:n,words:i}=t,{x:o,y:r,w:a,cell:l}=s,c=i.heads(l),h=C(e,c[Math.max(0,c.length-2)],ne),d=i.rights(l).find(m=>h+C(e,m,T)+24<=a)??"",f=d?C(e,d,T):0,u=H(e,c,a-16-(d?f+8:0),ne);z(e,u,o+8,r+13,ne,n.text),d&&z(e,d,o+a-8-f,r+13,T,n.dim),l.parts.length&&(e.setLineDash([2,2]),e.strokeStyle=n.dim,e.lineWidth=1,e.beginPath(),e.moveTo(o+8,r+20.5),e.lineTo(o+8+C(e,u,ne),r+20.5),e.stroke(),e.setLineDash([]))}function dl(e,t,s,n,i,o){let{colors:r,words:a}=t,{x:l,w:c}=s,h=s.y+n.y+X/2,{words:d,figure:f}=a.line(n),u=n.type==="move",m=n.type==="share",g=u||m?t.axisColor(n.of.axes):r.dim;i&&(e.fillStyle=r.strong,e.fillRect(l+2,h-8,c-3,16)),e.globalAlpha=o||(u||m)&&t.isFaded(n.of)?.4:1,u?(e.fillStyle=g,e.fillRect(l+8,h-6,4,13)):m&&(e.setLineDash([2,2]),e.strokeStyle=g,e.lineWidth=1,e.strokeRect(l+8.5,h-5.5,3,12),e.setLineDash([]));let x=u?pt:Fn,w=u?T:Fn,y=f?C(e,f,w):0,$=u||m?17:8;z(e,H(e,d,c-$-14-y,x),l+$,h+.5,x,t.hasAxisColors||!u?g:r.text),f&&z(e,f,l+c-8-y,h+.5,w,u?r.text:r.dim),e.globalAlpha=o?.4:1}function fl(e,t,s,n){let{x:i,y:o,w:r,h:a,cell:l,lines:c}=s;l.matmuls&&(e.fillStyle=n,e.fillRect(i+1,o+2,3,a-3));let{words:h,colors:d}=t,f=c.filter(j=>j.y===c[0].y),u=f.length?f[f.length-1].x+f[f.length-1].w:0,m=r-u-16,[g,x]=[h.rights(l).filter(Boolean),h.heads(l)],[w,y]=[x.slice(0,-1),x.slice(c.length?x.length:-1)],v=[...g.flatMap(j=>w.map(B=>`${B} \xB7 ${j}`)),...l.iterations===1&&h.mode==="phase"?w:g.length?g:w,...y].find(j=>C(e,j,T)<=m);v&&z(e,v,c.length?i+r-7-C(e,v,T):i+9,o+12.5,T,d.dim)}function ul(e,t,s,n,i,o,r){let{colors:a,words:l}=t,[c,h]=[s.x+n.x,s.y+n.y],{words:d,figure:f}=l.chip(n,r),u=n.type==="move";i&&(e.fillStyle=a.strong,e.strokeStyle=a.select,e.lineWidth=1,st(e,c,h,n.w-1,X,3),e.fill(),e.stroke()),e.globalAlpha=o||u&&t.isFaded(n.of)?.4:1;let m=u?t.axisColor(n.of.axes):a.dim;u&&(e.fillStyle=m,e.fillRect(c+4,h+2.5,4,13));let g=c+(u?12:4),x=f?C(e,f,T)+4:0,w=H(e,d,n.w-(g-c)-x-3,pt);z(e,w,g,h+9.5,u?pt:T,t.hasAxisColors||!u?m:a.text),f&&z(e,f,g+C(e,w,pt)+4,h+9.5,T,a.text),e.globalAlpha=o?.4:1}function Xn(e,t,s,n){let{words:i,figure:o}=t.chip(s,n),r=s.type==="move"?12:4;return Math.ceil(r+C(e,i[0],pt)+(o?C(e,o,T)+4:0)+5)}function ml(e,t){return e.hover?.cell===t.flow.source?e.colors.out:e.hover?.cell===t.flow.target?e.colors.in:t.kind==="flow"?e.colors.flow:e.colors.line}function Gn(e,t,s,n,i){let o=t[t.length-1],r=t[t.length-2],a=Math.hypot(o[0]-r[0],o[1]-r[1])||1,[l,c]=[(o[0]-r[0])/a,(o[1]-r[1])/a],h=Math.min(4+s*.8,a);e.globalAlpha=i,e.strokeStyle=e.fillStyle=n,e.lineWidth=s,e.lineJoin="round",e.beginPath(),t.forEach(([d,f],u)=>u===0?e.moveTo(d,f):u<t.length-1?e.lineTo(d,f):e.lineTo(d-l*h,f-c*h)),e.stroke(),e.beginPath(),e.moveTo(o[0],o[1]);for(let d of[1,-1])e.lineTo(o[0]-l*h-d*c*h*.6,o[1]-c*h+d*l*h*.6);e.fill(),e.globalAlpha=1}function gl(e,t,s,n){if(n.kind==="skip"||t.chipWidth)return;let i=s.words.flowWays(n.flow),[[o,r],[a,l]]=n.points;if(n.kind==="flow")return Hn(e,s,i[0],o-8-n.width/2-C(e,i[0],T),xl(t,r,l));let c=H(e,i,a-o-4,T);Hn(e,s,c,(o+a)/2-C(e,c,T)/2-1,r-8-n.width/2)}function xl(e,t,s){let[n,i]=[Math.min(t,s),Math.max(t,s)],o=r=>e.bands.every(a=>(r<a.y-7||r>a.y+(a.item.fold>=0?26:7))&&Math.abs(r-a.y-a.h)>7);return[(n+i)/2,n+9,i-9].find(o)??(n+i)/2}function Hn(e,t,s,n,i){e.font=T,e.lineWidth=3,e.lineJoin="round",e.strokeStyle=t.colors.bg,e.globalAlpha=.9,e.strokeText(s,n,i),e.globalAlpha=1,e.fillStyle=t.colors.dim,e.fillText(s,n,i)}function wl(e,t,s,n){let i=`\u21BB ${n?"":"next "}\xD7${s.times}  ${k(Math.round(s.bytes))}`,o=C(e,i,T)+14,r=s.x+10,a=s.y-8;e.fillStyle=t.colors.bg,e.strokeStyle=t.colors.line,e.lineWidth=1,e.setLineDash([3,2]),st(e,r,a,o,16,8),e.fill(),e.stroke(),e.setLineDash([]),z(e,i,r+7,a+8.5,T,t.colors.dim)}function bl(e,t,s,n){let i=new Set(t.arrows.map(l=>l.flow)),o=t.view.flows.filter(l=>l.source===n.cell||l.target===n.cell),r=new Set([n.cell,...o.flatMap(l=>[l.source,l.target])]);e.fillStyle=s.colors.bg,e.globalAlpha=.6;for(let l of t.boxes)r.has(l.cell)||e.fillRect(l.x-1,l.y-1,l.w+3,l.h+3);e.globalAlpha=1;let a=0;for(let l of o){let c=t.boxes.find(f=>f.cell===l.source),h=t.boxes.find(f=>f.cell===l.target);if(i.has(l)||!c||!h||c===h)continue;let d=Math.max(1.5,Math.min(5,ee(l)));Gn(e,yl(t,c,h,a++),d,c===n?s.colors.out:s.colors.in,.85)}Pe(e,n,s.colors.text,2)}function yl(e,t,s,n){let i=10+5*(n%7),o=t.y+Math.min(t.h-6,t.h*.62),r=s.y+Math.min(s.h-6,se/2+3*(n%4));if(t.x===s.x){let m=t.x+Math.max(t.w,s.w);return[[t.x+t.w,o],[m+i,o],[m+i,r],[s.x+s.w,r]]}let a=s.x>t.x,l=a?t.x+t.w:t.x,c=a?s.x:s.x+s.w,h=a?c-i:c+i,d=a?l+i:l-i;if(!e.columns.some(m=>a?m.x>t.x&&m.x<s.x:m.x>s.x&&m.x<t.x))return[[l,o],[h,o],[h,r],[c,r]];let u=vl(e,t,s);return[[l,o],[d,o],[d,u],[h,u],[h,r],[c,r]]}function vl(e,t,s){let n=s.isSpan?t.y:s.y,i=r=>e.boxes.every(a=>a.x===s.x||a.x===t.x||r<a.y||r>a.y+a.h);return e.boxes.filter(r=>!r.isSpan).flatMap(r=>[r.y-6,r.y+r.h+6]).filter(i).reduce((r,a)=>Math.abs(a-n)<Math.abs(r-n)?a:r,n-6)}function Yn(e,t,s){let{vis:n,stand:i}=t.view;return t.at.get(L(n[i[e.box.row[s]]],e.box.phase[s]))??null}function Jn(e,t,s){let{selection:n}=e.state,i={lines:new Map,boxes:new Set,phases:new Set};if(!n)return i;let o=kl(e,t,n);for(let a of o){let{vis:l,stand:c,cells:h}=s.view,d=L(l[c[t.box.row[a]]],t.box.phase[a]),f=s.at.get(d);h.get(d)?.boxes.includes(a)?f?i.boxes.add(f):i.phases.add(t.box.phase[a]):i.hidden??=a}let{listed:r}=e;return r?.type==="collective"&&jl(t,s,r.row,i),i}function kl(e,t,s){let{kernel:n}=t;if(s.type==="collective")return new Set([...t.collective.row].flatMap((a,l)=>a===s.row?[t.collective.box[l]]:[]));if(s.type==="buffer"){let{own:a,kernels:l}=e.selected??{own:null,kernels:[]};return a?.type==="array"?Vn(e,t):new Set(l.map(c=>n.box[c]))}if(s.type==="array")return Vn(e,t);let[i,o]=s.type==="kernel"?[n.entity,2*s.row+1]:[n.spot,s.row],r=new Set;for(let a=0;a<t.kernels;a++)i[a]===o&&r.add(n.box[a]);return r}function Vn(e,t){let{listed:s}=e,n=s?e.rows(`${s.type}s`)[s.row]:null;return new Set(Qn(t,n).map(i=>t.kernel.box[i]))}function Zn(e,t){let s=new Set([t?.name,...t?.names??[]]),n=new Set;if(t?.role!=="input")return n;for(let i=0;i<(e.header.arguments??0);i++)s.has(e.words.arguments(i))&&n.add(-2-i);return n}function Qn(e,t){let{source:s,ends:n}=e.read,i=Zn(e,t),o=r=>{let[a,l]=E(n,r);for(let c=a;c<l;c++)if(i.has(s[c]))return!0;return!1};return i.size?Array.from({length:e.kernels},(r,a)=>a).filter(o):[]}function $l(e,t){let{source:s,ends:n}=e.read,i=Zn(e,t),o=[];for(let r=0;i.size&&r<e.kernels;r++){let[a,l]=E(n,r);a===l||!s.subarray(a,l).every(c=>i.has(c))||(i.add(r),o.push(r))}return o}function ti(e,t,s){let n=new Set,i=new Map,o=new Map([...t.collective.kernel].map((r,a)=>[r,t.collective.row[a]]));for(let r of $l(t,s)){let a=o.get(r)??-1;a>=0&&n.add(a)}for(let r of Qn(t,s))if(!o.has(r)){let a=t.words.labels(t.kernel.label[r]),l=t.kernel.spot[r]<0?"":e.spotName(t.kernel.spot[r]),c=i.get(`${a} ${l}`)??{words:a,place:l,count:0};c.count++,i.set(`${a} ${l}`,c)}return{collectives:[...n].sort((r,a)=>r-a),kernels:[...i.values()]}}function jl(e,t,s,n){for(let i of t.boxes)i.lines.forEach((o,r)=>{let a=o.type==="more"?o.rest:[o],l=c=>(c.type==="move"||c.type==="share")&&c.of.collectives.some(h=>e.collective.row[h]===s);a.some(l)&&(n.lines.has(i)||n.lines.set(i,new Set),n.lines.get(i)?.add(r))})}function Ie(e,t,s){let{parent:n,fold:i}=e.row;for(let o=e.box.row[s];o>0;o=n[o])i[o]>=0&&e.fold.shown[i[o]]!==o&&t.unfolded.add(i[o]),t.open.add(n[o])}var re=class{constructor(t,s){this.graph=t,this.words=s,this.texts=null}find(t){let s=t.toLowerCase().split(/\s+/).filter(Boolean);if(!s.length)return[];this.texts??=Array.from({length:this.graph.boxes},(o,r)=>this._text(r));let n=this.texts.flatMap((o,r)=>s.every(a=>o.includes(a))?[r]:[]),i=new Set(n.map(o=>this._key(this.graph.box.row[o],o)));return n.filter(o=>{let r=this.graph.box.row[o],a=this.graph.row.shown_as[r];return a===r||!i.has(this._key(a,o))})}_key(t,s){return t*4+this.graph.box.phase[s]}_text(t){let{graph:s,words:n}=this,i=s.box.row[t],o=[n.phase(s.box.phase[t]),s.path(i),s.words["row.holds"](i)],[r,a]=E(s.move.ends,t);for(let l=r;l<a;l++)o.push(s.header.kinds[s.move.kind[l]],n.axes(s.move.axes[l]));for(let l of s.kernelsOf(t))o.push(s.words["kernel.names"](l),s.words.labels(s.kernel.label[l]),...Ml(s,l).map(c=>s.words.arguments(c)));return o.join(" ").toLowerCase()}};function Ml(e,t){let{source:s,ends:n}=e.read,[i,o]=E(n,t),r=new Set;for(let a=i;a<o;a++)s[a]<=-2&&r.add(-2-s[a]);return[...r]}var ae=class{constructor(t){this.view=t,this.search=new re(t.graph,t.words),this.hits=[],this.hit=-1,this.known=null,this.field=p("input",{type:"search",class:"search",placeholder:"Find in the graph","aria-label":"Find a scope, kernel or collective in the graph; Enter goes to the next",oninput:()=>this.find(),onkeydown:s=>this.key(s)}),this.count=p("span",{class:"hits","aria-live":"polite"}),this.parts=[this.field,this.count]}find(){this.hits=this.search.find(this.field.value),this.hit=-1,this.say(),this.view.paint()}say(){let t=this.field.value.trim()?"nothing":"",s=b(this.hits.length);this.count.textContent=this.hits.length?this.hit<0?s:`${this.hit+1} of ${s}`:t}boxes(){let{layout:t,graph:s}=this.view,{hits:n}=this;if(!t||!this.field.value.trim())return null;if(this.known?.layout!==t||this.known.hits!==n){let i=n.flatMap(o=>Yn(s,t,o)??[]);this.known={layout:t,hits:n,boxes:new Set(i)}}return this.known.boxes}key(t){t.key==="Escape"&&this.field.value&&(t.stopPropagation(),this.field.value="",this.find()),!(t.key!=="Enter"||!this.hits.length)&&(t.preventDefault(),this.hit=(this.hit+(t.shiftKey?-1:1)+this.hits.length)%this.hits.length,this.say(),this.view.goTo(this.hits[this.hit]))}};var Ct=(e,t,s)=>t>=e.x&&t<=e.x+e.w&&s>=e.y&&s<=e.y+e.h;function ei(e,t,s,n){let i=e.boxes.find(a=>Ct(a,t,s));if(i){let a=i.lines.findIndex(l=>Ct({x:i.x+l.x,y:i.y+l.y,w:l.w,h:X-.01},t,s));return a<0?{type:"box",box:i}:{type:"line",box:i,line:a}}for(let a=e.bands.length-1;a>=0;a--){let l=e.bands[a],c=n(l);if(c&&Ct(c,t,s))return{type:"badge",item:l.item};if(Ct({...l,h:e.measures.band},t,s))return{type:"band",item:l.item}}let o=e.labels.find(a=>Ct({...a,h:Math.min(a.h,40)},t,s));return o?o.item.fold>=0&&e.view.isClosed[o.item.fold]===1&&!e.chipWidth&&s>o.y+21&&t<o.x+34?{type:"badge",item:o.item}:{type:"label",item:o.item}:null}var We=6;function ni(e,t,s){if(e.type==="box")return Sl(e.box.cell,t,s);if(e.type==="line")return Al(e.box,e.line,s);let{item:n}=e,{graph:i}=s,o=n.fold>=0&&(n.isUnfolded||t.view.isClosed[n.fold]===1);if(e.type==="badge")return[s.fold(n.fold).name,n.isUnfolded?"Click: one for all":"Click: each by itself",s.fold(n.fold).alike];let r=o?s.fold(n.fold).name:i.path(n.row),a=n.row>0?i.words["row.holds"](n.row):"",l=n.isUnfolded||i.children[n.row].length>0;return[r,a,o?`${s.fold(n.fold).alike}; ${s.fold(n.fold).shown}`:"",l?`Click: ${n.isUnfolded?"fold":n.isOpen?"close":"open"}`:""].filter(Boolean)}function Sl(e,t,s){let n=[`${S(e.kernels,s.graph.work)} (modelled${e.inferred?`; ${b(e.inferred)} by inference`:""})`,e.matmuls?`${S(e.matmuls,"matmul")}, ${e.flops<0?"FLOPs unknown":ft(e.flops)} (counted)`:"",`writes ${k(e.bytes)} (counted)`].filter(Boolean),i=e.slowest<0?"":` in ${s.graph.label(e.slowest)}, the slowest of ${e.times}`,o=e.time<0?[]:[`${tt(e.time)} per call${i} (measured, each kernel on its slowest device)`],r=e.iterations===1?[]:[e.iterations<0?"all per trip of a loop; how many trips is unknown":`all per trip; ${b(e.iterations)} trips per call`],a=e.times>1?[`one of ${e.times}: ${e.time<0?"":"other "}figures are those of the shown one`]:[],l=e.differences.length>3?e.differences.slice(3).map(c=>s.fullLine({type:"difference",of:c})):[];return[s.cell(e),n.join(", "),...o,...r,...a,...Ol(e,s),...si(e,t,s,"target"),...si(e,t,s,"source"),...l]}function Ol(e,t){let{graph:s}=t,n=new Set(e.boxes),i=new Set,o=new Set;for(let[r]of e.parts)(n.has(s.kernel.box[r])?i:o).add(r);return[i.size?`${S(i.size,"fusion")} here also work${i.size===1?"s":""} for other boxes`:"",o.size?`${S(o.size,"fusion")} in other boxes also work${o.size===1?"s":""} for this one`:""].filter(Boolean)}function si(e,t,s,n){let i=n==="source"?"target":"source",o=t.view.flows.filter(c=>c[n]===e).sort((c,h)=>(h.bytes||h.total)-(c.bytes||c.total));if(!o.length)return[];let r=n==="target"?"\u2190":"\u2192",a=o.slice(0,We).map(c=>{let h=c.relation==="next"?", next layer":c[i]===e?", another layer":"";return`${r} ${s.flow(c)} \xB7 ${s.cell(c[i])}${h}`}),l=o.length>We?[`${r} and ${o.length-We} smaller`]:[];return[n==="target"?"reads":"gives to",...a,...l]}function Al(e,t,s){let n=e.lines[t];if(n.type==="more")return[s.cell(e.cell),...n.rest.map(c=>s.fullLine(c)),"Click: open"];let i=s.fullLine(n),o=s.cell(e.cell);if(n.type==="difference")return[i,`against the shown one, in ${o}`,n.of.members.slice(0,8).map(c=>s.graph.label(c)).join(", "),"Click: open that layer"];if(n.type==="share")return[i,o,"Its share of an instruction that stands, and is counted, in another box","Click: select it"];let{runs:r,count:a}=n.of,l=r<0?"how often they run is unknown":r===a?"":`run ${b(r)} times per call; bytes of one run each`;return[i,o,"payload: bytes of operands on one device (counted)",l,"Click: select"].filter(Boolean)}var Tl=4,El=250;function oi(e){let{canvas:t,box:s}=e,n=U(s),i=0,o=()=>{clearTimeout(i),n.hide()},a=Cl(e,l=>{let c=ii(e,l);t.classList.toggle("link",c!==null&&(c.type!=="label"||e.graph.children[c.item.row].length>0)),e.hoverOn(c&&(c.type==="box"||c.type==="line")?c.box:null);let h=c&&e.layout?ni(c,e.layout,e.words):[];o(),h.length&&(i=setTimeout(()=>n.show(h,l.clientX,l.clientY),El))},o);return t.addEventListener("click",l=>{a()||(o(),Ll(e,ii(e,l)))}),t.addEventListener("pointerleave",()=>{o(),e.hoverOn(null)}),e.view.addEventListener("wheel",l=>zl(e,l),{passive:!1}),{quiet:o}}function Cl({canvas:e,box:t},s,n){let i=null,o=!1;e.addEventListener("pointerdown",a=>{o=!1,!(a.button!==0||a.pointerType==="touch")&&(i={x:a.clientX,y:a.clientY,left:t.scrollLeft,top:t.scrollTop})}),e.addEventListener("pointermove",a=>{if(!i)return s(a);!o&&Math.hypot(a.clientX-i.x,a.clientY-i.y)<Tl||(o||e.setPointerCapture(a.pointerId),o=!0,n(),e.classList.add("grab"),t.scrollLeft=i.left-(a.clientX-i.x),t.scrollTop=i.top-(a.clientY-i.y))});let r=()=>{i=null,e.classList.remove("grab")};return e.addEventListener("pointerup",r),e.addEventListener("pointercancel",r),()=>o}function ii({canvas:e,box:t,layout:s,scale:n,words:i},o){let r=e.getBoundingClientRect(),a=e.getContext("2d");if(!s||!a||o.clientY-r.top<(Y-8)*n)return null;let l=(o.clientX-r.left+t.scrollLeft)/n,c=(o.clientY-r.top+t.scrollTop)/n;return ei(s,l,c,h=>Kn(a,s,i,h))}function Ll(e,t){e.focus=null,t&&(t.type==="badge"?e.unfold(t.item.fold):t.type==="band"||t.type==="label"?e.choose(t.item):t.type==="line"?e.pick(t.box,t.line):e.enter(t.box))}function zl(e,t){if(!t.ctrlKey&&!t.metaKey)return;t.preventDefault();let s=e.canvas.getBoundingClientRect();e.zoom(Math.exp(-Math.max(-60,Math.min(60,t.deltaY))*.01),t.clientX-s.left,t.clientY-s.top)}function ri(e,t,s){let n=[];for(let i of e.view.items){let o=i.row>=0&&i.fold>=0&&e.view.isClosed[i.fold]===1,r=i.depth+1,a=i.isUnfolded||t.graph.children[i.row]?.length>0,l=o||i.isUnfolded?`, ${t.fold(i.fold).times}, ${o?t.fold(i.fold).shown:"side by side"}`:"";if(n.push({key:i.isUnfolded?`f${i.fold}`:`r${i.row}`,level:r,name:t.row(i,o)+l,expanded:a?i.isOpen:null,item:i,box:null,line:-1}),!(i.row<0))for(let{phase:c}of e.columns){let h=L(i.row,c),d=e.at.get(h);if(!d)continue;let f=d.lines.length>0,u=s.has(h);n.push({key:`b${h}`,level:r+1,name:t.box(d.cell,d.lines),expanded:f?u:null,item:i,box:d,line:-1}),u&&d.lines.forEach((m,g)=>n.push({key:`l${h},${g}`,level:r+2,name:t.fullLine(m),expanded:null,item:i,box:d,line:g}))}}return n}function ai(e){let t=`pjit-tree-${++Bl}-`,s=p("div",{class:"offscreen graphtree",role:"tree",tabindex:0,"aria-label":"Graph: scopes by phases. Arrows move, Enter opens or selects."}),n=[],i="",o=()=>n.findIndex(c=>c.key===i),r=c=>{let h=n[c]??null;i=h?.key??"";let d=s.children[c];s.querySelector("[aria-selected=true]")?.setAttribute("aria-selected","false"),d?.setAttribute("aria-selected","true"),d?s.setAttribute("aria-activedescendant",d.id):s.removeAttribute("aria-activedescendant"),e.moved(document.activeElement===s||s.getRootNode()instanceof ShadowRoot?h:null)},a=()=>{n=e.nodes(),s.replaceChildren(...n.map((c,h)=>p("div",{id:t+h,role:"treeitem","aria-level":c.level,"aria-expanded":c.expanded===null?void 0:String(c.expanded),"aria-selected":String(c.key===i)},p("bdi",{},c.name)))),i&&o()<0&&(i=""),i&&s.setAttribute("aria-activedescendant",t+o())};return s.addEventListener("focus",()=>{a(),r(Math.max(0,o()))}),s.addEventListener("blur",()=>e.moved(null)),s.addEventListener("keydown",c=>{if(c.ctrlKey||c.metaKey||c.altKey)return;let h=_l(c.key,n,o());if(h===null)return e.key(c);if(c.preventDefault(),typeof h=="number")return r(h);h.open===null?e.act(n[o()]):e.open(n[o()],h.open),a(),r(Math.max(0,o()))}),{element:s,update:a,choose:c=>{i=c}}}var Bl=0;function _l(e,t,s){if(!t.length)return null;let n=t[s]??t[0];if(e==="ArrowDown")return Math.min(t.length-1,s+1);if(e==="ArrowUp")return Math.max(0,s-1);if(e==="Home")return 0;if(e==="End")return t.length-1;if(e==="Enter"||e===" ")return{open:null};if(e==="ArrowRight")return n.expanded===!1?{open:!0}:t[s+1]?.level>n.level?s+1:s;if(e==="ArrowLeft"){if(n.expanded)return{open:!1};for(let i=s-1;i>=0;i--)if(t[i].level<n.level)return i;return s}return null}var Pl=["forward","recompute","backward","optimizer"];function li(e,t){let s=e.header.arrays.filter(o=>o.role==="value"&&o.sharding>=0&&o.spots.length);if(!s.length)return null;let n=Rl(s,e),i=new Map;for(let o=0;o<t.boxes;o++){let r=new Map,a=new Set(t.kernelsOf(o).map(c=>t.kernel.spot[c]));for(let c of a)for(let[h,d]of n.get(`${c},${Pl[t.box.phase[o]]}`)??[])r.set(h,(r.get(h)??0)+d);let l=[...r].sort((c,h)=>h[1]-c[1])[0];l&&i.set(o,l[0]?l[0].split(`
`):[])}return i.size?i:null}function Rl(e,t){let s=new Map;for(let n of e){let i=[...new Set((t.header.shardings[n.sharding].spec??[]).flat())].join(`
`),o=`${n.spots[0]},${n.phase||"forward"}`;s.has(o)||s.set(o,[]),s.get(o)?.push([i,n.bytes])}return s}async function G(e,t,s=e.data?.header.text){if(!s)return;let n=await Nl(s)||Il(s,t),i=t.dataset.words??t.textContent??"";t.dataset.words=i,t.textContent=n?"Copied":"Copying was refused",setTimeout(()=>{t.textContent=i},1500)}async function Nl(e){let t=document.permissionsPolicy??document.featurePolicy;if(t&&!t.allowsFeature("clipboard-write"))return!1;try{return await navigator.clipboard.writeText(e),!0}catch{return!1}}function Il(e,t){let s=p("textarea",{class:"offscreen","aria-hidden":"true"});s.value=e,t.after(s),s.select();try{return document.execCommand("copy")}catch{return!1}finally{s.remove(),t.focus()}}var De="http://www.w3.org/2000/svg",Wl=["fill","fill-opacity","stroke","stroke-width","stroke-opacity","stroke-dasharray","stroke-linecap","stroke-linejoin","opacity","visibility","display","font-family","font-size","font-weight","font-style","text-anchor","dominant-baseline","letter-spacing","paint-order"],Dl=/^(on|aria-|data-|tabindex$|role$|class$)/;function ci(e,t){let s=e.getBoundingClientRect(),n=new Lt(s,t,le(e));return n.walk(e,n.root),n.text()}function hi(e,t){let{width:s,height:n}=e.viewBox.baseVal,i=new Lt({left:0,top:0,width:s,height:n},t,le(e));return i.drawing(e,i.root,{left:0,top:0,width:s,height:n}),i.text()}function pi(e,t,s,n){let i={left:0,top:0,width:e.width/n,height:e.height/n},o=new Lt(i,s,le(t));return o.painted(e,o.root,i),o.text()}async function di(e){let t=new Image;t.src=`data:image/svg+xml;charset=utf-8,${encodeURIComponent(e)}`,await t.decode();let s=document.createElement("canvas"),n=qe(t.width,t.height);return s.width=Math.max(1,Math.round(t.width*n)),s.height=Math.max(1,Math.round(t.height*n)),s.getContext("2d")?.drawImage(t,0,0,s.width,s.height),new Promise((i,o)=>s.toBlob(r=>r?i(r):o(new Error("the picture is too large")),"image/png"))}function qe(e,t){let s=Math.min(Math.sqrt(64e6/(e*t)),16e3/Math.max(e,t));return Math.min(2,s)}function fi(e,t){let s=document.createElement("a");s.href=URL.createObjectURL(e),s.download=t,s.click(),setTimeout(()=>URL.revokeObjectURL(s.href),6e4)}function le(e){for(let t=e;t;t=t.parentElement){let s=getComputedStyle(t).backgroundColor;if(He(s))return s;let n=t.getRootNode();if(!t.parentElement&&n instanceof ShadowRoot)return le(n.host)}return"#fff"}var He=e=>e!=="transparent"&&!/^rgba\(.*, 0\)$/.test(e),Lt=class{constructor(t,s,n){this.area=t,this.root=document.createElementNS(De,"svg"),this.clips=0;let[i,o]=[Math.ceil(t.width),Math.ceil(t.height)];Fe(this.root,{xmlns:De,viewBox:`0 0 ${i} ${o}`,width:i,height:o}),this.add(this.root,"title",{}).textContent=s,this.add(this.root,"rect",{width:i,height:o,fill:n})}text(){return new XMLSerializer().serializeToString(this.root)}add(t,s,n){let i=document.createElementNS(De,s);return Fe(i,n),t.append(i),i}place(t){return{x:N(t.left-this.area.left),y:N(t.top-this.area.top)}}walk(t,s){let n=getComputedStyle(t),i=t.getBoundingClientRect();if(n.display==="none"||n.visibility==="hidden"||n.opacity==="0")return;if(t instanceof SVGSVGElement)return this.drawing(t,s,i);if(t instanceof HTMLCanvasElement)return this.painted(t,s,i);let o=n.opacity==="1"?s:this.add(s,"g",{opacity:n.opacity});if(i.width&&i.height&&this.frame(o,n,i),n.overflowX!=="visible"&&(o=this.clipped(o,i)),t instanceof HTMLInputElement)this.words(o,t.value||t.placeholder,n,i);else if(t instanceof HTMLSelectElement)this.words(o,t.selectedOptions[0]?.textContent??"",n,i);else if(t instanceof HTMLDetailsElement&&!t.open){let r=t.querySelector("summary");r&&this.walk(r,o)}else for(let r of t.childNodes)this.child(r,o,n)}child(t,s,n){t instanceof Element?this.walk(t,s):t.nodeType===Node.TEXT_NODE&&this.run(t,s,n)}frame(t,s,n){let{x:i,y:o}=this.place(n),[r,a]=[N(n.width),N(n.height)],l=Math.min(parseFloat(s.borderTopLeftRadius)||0,a/2);He(s.backgroundColor)&&this.add(t,"rect",{x:i,y:o,width:r,height:a,rx:l,fill:s.backgroundColor});let c=["Top","Right","Bottom","Left"].map(w=>{let y=v=>s[`border${w}${v}`],$=y("Style")==="none"?0:parseFloat(y("Width"))||0;return{wide:$,color:y("Color"),dash:y("Style")==="dashed"?3*$:0}}),[{wide:h,color:d,dash:f}]=c,u=w=>({fill:"none",stroke:w.color,"stroke-width":w.wide,"stroke-dasharray":w.dash||"none"});if(h&&c.every(w=>w.wide===h&&w.color===d)){let w={x:i+h/2,y:o+h/2,width:r-h,height:a-h,rx:l};this.add(t,"rect",{...w,...u({wide:h,color:d,dash:f})});return}let[m,g]=[i+r,o+a],x=[[i,o,m,o],[m,o,m,g],[i,g,m,g],[i,o,i,g]];c.forEach((w,y)=>{if(!w.wide||!He(w.color))return;let $=(y===0||y===3?1:-1)*(w.wide/2),[v,j]=y%2?[$,0]:[0,$],[B,P,I,Z]=x[y];this.add(t,"path",{d:`M${B+v} ${P+j}L${I+v} ${Z+j}`,...u(w)})})}clipped(t,s){let n=`clip${++this.clips}`,{x:i,y:o}=this.place(s);return this.add(this.add(t,"clipPath",{id:n}),"rect",{x:i,y:o,width:N(s.width),height:N(s.height)}),this.add(t,"g",{"clip-path":`url(#${n})`})}run(t,s,n){let i=n.whiteSpace.startsWith("pre"),o=[];for(let r of Fl(t)){let a=o[o.length-1],l=i?r.words:r.words.replace(/\s+/," ");a&&Math.abs(a.top-r.top)<2?(a.words+=l,a.width=r.left+r.width-a.left):o.push({...r,words:l})}for(let r of o)r.words.trim()&&this.line(s,r.words,n,r)}words(t,s,n,i){let o=i.left+(parseFloat(n.paddingLeft)||0)+(parseFloat(n.borderLeftWidth)||0);this.line(t,s,n,{left:o,top:i.top,width:0,height:i.height})}line(t,s,n,i){let{x:o,y:r}=this.place(i),a=this.add(t,"text",{x:o,y:N(r+i.height/2),"dominant-baseline":"central",fill:n.color,"font-family":n.fontFamily,"font-size":n.fontSize,"font-weight":n.fontWeight,"font-style":n.fontStyle,...i.width?{textLength:N(i.width),lengthAdjust:"spacingAndGlyphs"}:{}});a.textContent=s.replace(/\s/g,"\xA0")}drawing(t,s,n){if(!n.width||!n.height)return;let i=t.cloneNode(!0),o=[t,...t.querySelectorAll("*")];[i,...i.querySelectorAll("*")].forEach((r,a)=>Hl(r,o[a])),Fe(i,{...this.place(n),width:N(n.width),height:N(n.height)}),s.append(i)}painted(t,s,n){if(!t.width||!t.height)return;let i={width:N(n.width),height:N(n.height)};this.add(s,"image",{...this.place(n),...i,href:t.toDataURL("image/png")})}};function*Fl(e){let t=document.createRange(),s=(n,i)=>{t.setStart(e,n),t.setEnd(e,i);let o=[...t.getClientRects()].filter(r=>r.width);return{box:t.getBoundingClientRect(),isWhole:o.every(r=>Math.abs(r.top-o[0].top)<2)}};for(let{0:n,index:i}of e.data.matchAll(/\s+|\S+/g)){let{box:o,isWhole:r}=s(i,i+n.length),a=r?[n]:[...n],l=i;for(let c of a){let{left:h,top:d,width:f,height:u}=r?o:s(l,l+c.length).box;l+=c.length,f&&(yield{words:c,left:h,top:d,width:f,height:u})}}}function Hl(e,t){let s=getComputedStyle(t);for(let{name:i}of[...e.attributes])Dl.test(i)&&e.removeAttribute(i);let n=Wl.map(i=>[i,s.getPropertyValue(i)]).filter(([,i])=>i);e.setAttribute("style",n.map(([i,o])=>`${i}:${o}`).join(";"))}function Fe(e,t){for(let[s,n]of Object.entries(t))e.setAttribute(s,String(n))}var N=e=>Math.round(e*100)/100;var zt=560,ql=300,Ul=640,Kl=.3,Xl=3,ui=.9,nt=(e,t,s,n="")=>p("button",{type:"button",class:`button ${n}`,title:t,"aria-label":t,onclick:s},e);function mi(e,t){let s=p("section",{class:"graph","aria-label":"Graph"}),n=null;return e.listen(i=>{if(i.has("data")&&e.data){let o=Cn(e.data),r=s.closest(".pjit-inspector")?.classList.contains("inset");n=o&&new Ue(e,o,t,r),e.usesOf=a=>o?ti(e,o,a):{collectives:[],kernels:[]},e.graphNeed=()=>n?.need??{height:0,isFlow:!1},e.graphPicture=a=>n?.picture(a)??"",s.replaceChildren(...n?n.parts:[p("p",{class:"nothing"},e.data.header.graph?.missing||"No graph of this record.")])}n?.changed(i)}),s}var Gl=(e,t)=>t?{x:e.x+t.x+3,y:e.y+t.y+1,w:t.w-6,h:X-2}:e,Ue=class{shown=null;before=null;layout=null;lit={lines:new Map,boxes:new Set,phases:new Set};hover=null;focus=null;openBoxes=new Set;scale=1;width=0;height=0;mode="phase";mostFlops=0;isNarrow=!1;isCompact=!1;wantsCompact=null;isStale=!1;hasBegun=!1;colors={};fillOf=null;idle=void 0;canvas=p("canvas",{role:"img","aria-label":"The graph; the tree beside it says the same"});space=p("div",{class:"graphspace"},p("div",{class:"graphstick"},this.canvas));box=p("div",{class:"graphbox",tabindex:-1},this.space);view=p("div",{class:"graphview"},this.box);foot=p("div",{class:"graphfoot"});phases=p("span",{class:"tight",role:"group","aria-label":"Phase"});stripButton=nt("Schedule","Show or hide when kernels run",()=>this.showStrip(!!this.strip.hidden),"flowkeep");paintSoon=Q(()=>this.isVisible&&this.paintNow());constructor(t,s,n,i=!1){i&&this.view.append(this.canvas),this.store=t,this.graph=s,this.strip=n,this.phase=s.columns[0],this.sets=t.data?.header.axis_sets??[],this.words=new te(s,this.sets),this.shardings=t.data&&li(t.data,s),this.flow=t.data?.header.flow?new Zt(t,i):null,s.header.measured&&(this.mode=this.words.mode="time"),this.finder=new ae(this),this.tree=ai({nodes:()=>this.layout?ri(this.layout,this.words,this.openBoxes):[],act:a=>this.act(a),open:(a,l)=>this.openNode(a,l),moved:a=>this.moved(a),key:a=>this.key(a)}),this.flowButton=nt("Boxes","Show rows of boxes, or the flow of all kernels",()=>this.showFlow(!!this.flow?.element.hidden),"flowkeep"),this.compactButton=nt("Compact","Low rows, or all there is to say",()=>this.toggleCompact(),"wideonly"),this.bar=this.toolbar(),this.parts=[this.bar,this.tree.element,...this.flow?[this.flow.element]:[],this.view,this.foot,this.strip];let o=oi(this),r=()=>{o.quiet(),this.paint()};this.box.addEventListener("scroll",r,{passive:!0}),new ResizeObserver(()=>this.resized()).observe(this.box)}toolbar(){let t=p("select",{"aria-label":"Colour boxes by",onchange:()=>{this.mode=this.words.mode=t.value,this.dress(),this.tree.update()}},Sn(this.graph,!!this.shardings).map(([n,i])=>p("option",{value:n},i)));t.value=this.mode;let s=nt("Copy","Copy the graph as text",()=>this.layout&&G(this.store,s,jn(this.layout,this.words)),"wideonly push");return p("div",{class:"graphbar"},this.phases,this.flow?this.flowButton:null,...this.finder.parts,p("label",{class:"wideonly"},p("span",{class:"roomonly"},"colour by "),t),p("span",{class:"tight wideonly"},nt("\u2212","Zoom out (-)",()=>this.zoom(1/1.2)),nt("Fit","Fit the width (0)",()=>this.fit()),nt("+","Zoom in (+)",()=>this.zoom(1.2))),this.compactButton,nt("Reset","Open what is open at first",()=>this.reset(),"wideonly"),this.stripButton,s)}showFlow(t){this.flow&&(this.flow.element.hidden=!t,this.flowButton.textContent=t?"Boxes":"Flow",this.view.parentElement?.classList.toggle("flowing",t),t?this.flow.update():this.resized())}get need(){let t=!!(this.flow&&!this.flow.element.hidden),s=t?this.flow?.need??0:(this.layout?.height??0)*this.scale+this.foot.offsetHeight;return{height:this.bar.offsetHeight+s+this.strip.offsetHeight+6,isFlow:t}}showStrip(t){this.strip.hidden=!t,this.stripButton.setAttribute("aria-pressed",String(t))}changed(t){t.has("theme")&&this.dress(),(t.has("centre")||t.has("pane")||t.has("wide"))&&this.resized(),(t.has("selection")||t.has("height"))&&this.flow?.update(),t.has("selection")?this.selected():["axes","kind","list"].some(s=>t.has(s))&&this.paint()}get isVisible(){return this.box.clientWidth>0&&this.box.clientHeight>0}resized(){let t=this.view.parentElement;if(t?.clientWidth&&!this.hasBegun&&this.begin(t),!this.layout&&t?.clientHeight&&this.showStrip(t.clientWidth>=zt&&t.clientHeight>=Ul),!this.isVisible)return;let{clientWidth:s,clientHeight:n}=this.box;if(this.layout&&s===this.width&&n===this.height&&!this.isStale)return;let i=!this.layout;[this.width,this.height]=[s,n],this.shown??=_e(this.graph,Math.max(s,zt)),this.isCompact=this.wantsCompact??!this.fitsRoomy(s,n),this.compactButton.setAttribute("aria-pressed",String(this.isCompact)),this.isNarrow=s<(this.isCompact?ql:zt)&&this.graph.columns.length>1,this.arrange(),this.fit(),this.dress(),(i||this.isStale)&&this.selected(),this.isStale=!1}begin(t){this.hasBegun=!0;let s=this.flow?.fits(t.clientWidth)??!1;this.showFlow(s),!(s||this.graph.boxes!==1)&&Ee(this.store,0,this.view,void 0,!0)}fitsRoomy(t,s){if(!this.shown||t<zt&&this.graph.columns.length>1)return!1;let n=Et(this.graph,this.shown,{room:t,flows:!1});return n.height<=s&&n.width*ui<=t}toggleCompact(){this.wantsCompact=!this.isCompact,this.isStale=!0,this.resized()}arrange(){if(!this.shown)return;let t=this.canvas.getContext("2d",{alpha:!1});this.layout=Et(this.graph,this.shown,{room:this.width,phases:this.isNarrow?[this.phase]:this.graph.columns,chipWidth:this.isCompact?(s,n)=>Xn(t,this.words,s,n):void 0}),this.mostFlops=Math.max(0,...this.layout.boxes.map(s=>s.cell.flops)),this.hover=null,this.relit(),this.size(this.box.scrollTop>0?this.box.scrollTop+this.box.clientHeight:0),clearTimeout(this.idle),this.idle=setTimeout(()=>this.tree.update(),60),this.phases.replaceChildren(...this.isNarrow?this.phaseButtons():[])}phaseButtons(){return this.graph.columns.map(t=>p("button",{type:"button",class:"button","aria-pressed":String(t===this.phase),onclick:()=>{this.phase=t,this.arrange(),this.dress()}},this.words.phase(t)))}size(t=0){this.layout&&(this.space.style.width=`${Math.max(this.layout.width*this.scale,1)}px`,this.space.style.height=`${Math.max(this.layout.height*this.scale,t)}px`,this.paint())}dress(){this.layout&&(this.recolor(),this.foot.replaceChildren(...Tn(this.mode,this.graph,this.layout,this.sets,this.store.first.axes),...this.notes()),this.paint())}recolor(){this.layout&&(this.colors=On(this.box),this.fillOf=An(this.mode,this.layout,this.colors,{sets:this.sets,all:this.store.first.axes,shardings:this.shardings}))}notes(){let{graph:t,layout:s}=this,n=[...s?.view.cells.values()??[]];return[[`${t.work}s per box: modelled`,"A kernel of several scopes stands in one box, and some have no scope of their own."],t.header.has_scopes?null:["no scopes: rows by loop, function, argument","Name parts of the program with jax.named_scope to see them as rows."],n.some(o=>o.iterations!==1)?["per trip: of one iteration of the loop","How often it runs stands in the box."]:null,n.some(o=>o.moves.some(r=>this.sets[r.axes].words.includes(":(")))?["axis:(m)k: a part of an axis, k long","XLA took the axis apart: k is the length of this part, m that of the parts before it together."]:null,n.some(o=>o.shares.length)?["dashed bar: share of a combined collective","One instruction serves several boxes and is counted in one of them."]:null,n.some(o=>o.parts.length)?["dashed line: fusions shared between boxes","Point at a box to see with which."]:null].filter(Boolean).map(o=>p("span",{class:"wideonly",title:o?.[1]},o?.[0]))}paint(){this.layout&&this.paintSoon()}paintNow(){let{canvas:t,layout:s,box:n}=this;if(!s||!this.fillOf)return;getComputedStyle(n).getPropertyValue("--bg").trim()!==this.colors.bg&&this.recolor();let i=devicePixelRatio||1,o=n.clientWidth,r=n.clientHeight;(t.width!==Math.round(o*i)||t.height!==Math.round(r*i))&&(t.width=Math.round(o*i),t.height=Math.round(r*i),t.style.width=`${o}px`,t.style.height=`${r}px`),this.paintOn(t,{scale:this.scale,left:n.scrollLeft,top:n.scrollTop,width:o,height:r,ratio:i})}paintOn(t,s){let{layout:n,store:i,fillOf:o}=this;if(!n||!o)return;let r=t.getContext("2d",{alpha:!1}),{axes:a,kind:l}=i.state,c=this.graph.header.kinds;qn(r,n,{...s,colors:this.colors,words:this.words,axisColor:h=>this.colors[O(this.sets[h].axes,i.first.axes)],fillOf:o,hasAxisColors:this.mode==="phase"||this.mode==="axis",lit:this.lit,isFaded:h=>a!==null&&h.axes!==a||l!==null&&c[h.kind]!==l,hover:this.hover,focus:this.focusPlace(),found:this.finder.boxes(),mostFlops:this.mostFlops})}picture(t){if(this.flow&&!this.flow.element.hidden)return hi(this.flow.svg,t);let{layout:s}=this;if(!s||!this.fillOf||this.view.parentElement?.querySelector(".boxpane"))return"";let[n,i]=[Math.ceil(s.width),Math.ceil(s.height)],o=qe(n,i),r=document.createElement("canvas");return r.width=Math.round(n*o),r.height=Math.round(i*o),this.paintOn(r,{scale:1,left:0,top:0,width:n,height:i,ratio:o}),pi(r,this.box,t,o)}toggle(t,s){!this.shown||!this.graph.children[t]?.length||(this.before=null,s??!this.shown.open.has(t)?this.shown.open.add(t):this.shown.open.delete(t),this.arrange(),this.dress())}unfold(t){this.shown&&(this.before=null,this.shown.unfolded.delete(t)||this.shown.unfolded.add(t),this.arrange(),this.dress())}reset(){this.before=null,this.shown=_e(this.graph,Math.max(this.width,zt)),this.arrange(),this.fit(),this.dress()}relit(){this.layout&&(this.lit=Jn(this.store,this.graph,this.layout))}selected(){if(!this.layout||!this.shown)return;if(!this.isVisible){this.isStale=!0;return}this.before&&(this.shown=this.before,this.before=null,this.arrange(),this.dress()),this.relit(),this.isNarrow&&!this.lit.boxes.size&&this.lit.phases.size&&([this.phase]=this.lit.phases,this.arrange(),this.dress()),!this.lit.boxes.size&&this.lit.hidden!==void 0&&(this.before={open:new Set(this.shown.open),unfolded:new Set(this.shown.unfolded)},Ie(this.graph,this.shown,this.lit.hidden),this.arrange(),this.dress());let t=[...this.lit.boxes].sort((s,n)=>s.y-n.y);t.length&&!t.some(s=>this.isInView(s))&&this.bring(t[0]),this.paint()}isInView(t){let s=this.box.scrollTop/this.scale,n=s+this.box.clientHeight/this.scale;return t.y>=s+Y-8&&Math.min(t.y+t.h,t.y+120)<=n}bring(t){let{box:s,scale:n}=this;this.isInView(t)||(s.scrollTop=Math.max(0,(t.y-Y-24)*n)),t.x*n<s.scrollLeft?s.scrollLeft=(t.x-20)*n:(t.x+t.w)*n>s.scrollLeft+s.clientWidth&&(s.scrollLeft=(t.x+t.w+12)*n-s.clientWidth)}goTo(t){if(!this.shown)return;let s=this.graph.box.row[t],n=this.graph.box.phase[t];this.isNarrow&&(this.phase=n),this.before=null,Ie(this.graph,this.shown,t),this.arrange(),this.dress();let i=this.layout?.at.get(s*4+n);i&&(this.focus={box:i,line:-1},this.tree.choose(`b${s*4+n}`),this.bring(i),this.paint())}hoverOn(t){t!==this.hover&&(this.hover=t,this.paint())}choose(t){t.isUnfolded?this.unfold(t.fold):this.toggle(t.row)}pick(t,s){let n=t.lines[s],{store:i,graph:o}=this;if(n.type==="difference"){let[c]=n.of.members;return this.shown?.unfolded.add(o.row.fold[c]),this.toggle(c,!0)}if(n.type==="more")return this.enter(t);let r=[...new Set(n.of.collectives.map(c=>o.collective.row[c]))].filter(c=>c>=0),a=i.state.selection,l=a?.type==="collective"?r.indexOf(a.row):-1;r.length&&i.select({type:"collective",row:r[(l+1)%r.length]})}enter(t){let{cell:s}=t;if(s.boxes.length>1&&this.graph.children[s.row].length&&!this.shown?.open.has(s.row))return this.toggle(s.row,!0);let n=this.view.parentElement;n&&s.boxes.length&&Ee(this.store,s.boxes[0],n)}zoom(t,s=this.box.clientWidth/2,n=Y){let i=Math.max(Kl,Math.min(Xl,this.scale*t)),{box:o}=this,[r,a]=[(o.scrollLeft+s)*(i/this.scale)-s,(o.scrollTop+n)*(i/this.scale)-n];this.scale=i,this.size(),o.scrollLeft=r,o.scrollTop=a}fit(){this.layout&&(this.scale=Math.max(ui,Math.min(1,this.box.clientWidth/this.layout.width)),this.size())}moved(t){this.box.classList.toggle("focused",t!==null),this.focus=t&&{item:t.item,box:t.box,line:t.line};let s=this.focusPlace();s&&!this.isInView(s)&&this.bring(s),this.paint()}focusPlace(){let{focus:t,layout:s}=this;if(!t||!s)return null;let n=t.box?.cell,i=n&&s.boxes.find(a=>a.cell.row===n.row&&a.cell.phase===n.phase);if(i)return t.line<0?i:Gl(i,i.lines[t.line]);let o=s.bands.find(a=>a.item.row===t.item?.row&&a.item.fold===t.item.fold);if(o)return{x:o.x+3,y:o.y+3,w:o.w-6,h:(this.layout?.measures.band??0)-6};let r=s.labels.find(a=>a.item.row===t.item?.row);return r?{x:r.x-4,y:r.y+2,w:r.w+2,h:Math.min(r.h,36)}:null}act(t){t.box&&t.line>=0?this.pick(t.box,t.line):t.box?this.enter(t.box):this.choose(t.item)}openNode(t,s){if(!t.box)return t.item.isUnfolded?this.unfold(t.item.fold):this.toggle(t.item.row,s);let n=t.box.cell.row*4+t.box.cell.phase;s?this.openBoxes.add(n):this.openBoxes.delete(n)}key(t){let s=this.focus?.item?.fold??-1,i={"+":()=>this.zoom(1.2),"=":()=>this.zoom(1.2),"-":()=>this.zoom(1/1.2),0:()=>this.fit(),x:()=>s>=0&&this.unfold(s),PageDown:()=>{this.box.scrollTop+=this.box.clientHeight*.8},PageUp:()=>{this.box.scrollTop-=this.box.clientHeight*.8}}[t.key];i&&(t.preventDefault(),t.stopPropagation(),i(),this.tree.update())}};function xi(e){let t=p("section",{class:"findings","aria-label":"Findings"}),s=()=>{let{rows:n,words:i,waits:o}=e.findings,r=n[e.state.finding]?e.state.finding:0,a=i.length?p("p",{class:o?"quiet waits":"quiet",role:"status"},A(i,e.first.axes)):null;t.hidden=!n.length&&!a,t.classList.toggle("none",!n.length),t.replaceChildren(...[n.length?Vl(e,r):null,n.length?Yl(e,n[r]):null,a].filter(l=>l!==null))};return e.listen(n=>(n.has("findings")||n.has("finding"))&&s()),s(),t}function gi(e,t){e.set({finding:t});let{names:s,place:n}=e.findings.rows[t],i=e.rows("collectives").findIndex(o=>o.names?.some(r=>s.includes(r)));i>=0?e.select({type:"collective",row:i}):n&&e.selectName(n)}function Vl(e,t){let{rows:s}=e.findings;return p("ol",{class:"findinglist",onkeydown:n=>{let i=W(n,e.state.finding,s.length);if(i===null)return;n.preventDefault();let o=n.currentTarget.parentElement;gi(e,i),o?.querySelectorAll(".finding")[i]?.focus()}},s.map((n,i)=>p("li",{},p("button",{type:"button",class:"finding","aria-pressed":String(i===t),title:n.plain,onclick:()=>gi(e,i)},p("span",{class:"findingnumber","aria-hidden":"true"},String(i+1)),p("span",{class:"findingwords"},A(n.sentence,e.first.axes)),p("span",{class:"findingfigures"},A(n.figures,e.first.axes))))))}function Yl(e,t){let{axes:s}=e.first,n=p("button",{type:"button",class:"button",title:"Copy the remedy",onclick:()=>G(e,n,t.code)},"Copy");return p("div",{class:"findingstrip"},p("p",{class:"findingfull"},A(t.sentence,s)),t.remedy.length?p("div",{class:"remedy"},p("p",{},p("b",{},"Remedy: "),A(t.remedy,s)),n):null,t.bars.length?p("table",{class:"findingbars"},t.bars.map(([i,o,r])=>p("tr",{},p("th",{scope:"row"},i),p("td",{class:"track"},p("span",{class:"fill",style:{width:`${100*o}%`}})),p("td",{class:"figure"},r)))):null)}var Jl=[["All",".frame"],["Graph",".graph"],["Memory",".mempane"],["Schedule",".schedule"],["Linked text",".texts"],["Traffic",".traffic"],["Mesh",".mesh"],["Totals",".totals"],["List",".list"],["Details",".details"],["Findings",".findings"]],Zl=["svg","png"];function wi(e){let t=p("div",{class:"picturemenu",role:"group","aria-label":"Pictures to save",hidden:!0}),s=p("span",{class:"offscreen",role:"status"}),n=p("button",{type:"button",class:"button",title:"Save a picture of what is shown","aria-expanded":"false",onclick:()=>o(!!t.hidden)},"Picture \u25BE"),i=p("span",{class:"pictures"},n,t,s),o=a=>{t.hidden=!a,n.setAttribute("aria-expanded",String(a)),a&&t.replaceChildren(...Ql(i).map(([l,c])=>r(l,c)))},r=(a,l)=>p("div",{class:"pictureof"},p("span",{},a),Zl.map(c=>p("button",{type:"button",class:"button","aria-label":`${a} as ${c.toUpperCase()}`,onclick:async()=>{o(!1),n.focus({preventScroll:!0}),s.textContent=await tc(e,a,l,c)}},c.toUpperCase())));return i.addEventListener("keydown",a=>{a.key!=="Escape"||t.hidden||(a.stopPropagation(),o(!1),n.focus({preventScroll:!0}))}),i.addEventListener("focusout",a=>{let l=a.relatedTarget;l&&!i.contains(l)&&o(!1)}),i}function Ql(e){let t=e.closest(".pjit-inspector"),s=[];for(let[n,i]of Jl){let o=t?.querySelector(i);o?.clientWidth&&o.clientHeight&&s.push([n,o])}return s}async function tc(e,t,s,n){let{name:i}=e.first,o=`${i}: ${t.toLowerCase()}`;try{let r=t==="Graph"&&e.graphPicture(o)||ci(s,o),a=n==="svg"?new Blob([r],{type:"image/svg+xml"}):await di(r),l=`${i}_${t.toLowerCase()}`.replace(/[^A-Za-z0-9_.-]+/g,"_").slice(0,100);return fi(a,`${l}.${n}`),`Saved ${l}.${n}`}catch(r){return`The picture could not be made: ${r}`}}function bi(e){let{question:t,axes:s}=e.first;if(!t)return null;let n=t.titles.map((o,r)=>p("th",{scope:"col",role:"columnheader",class:t.right[r]?"right":void 0},o)),i=t.rows.map(o=>p("tr",{role:"row"},o.map((r,a)=>a?p("td",{role:"cell",class:t.right[a]?"right":void 0},A(r,s)):p("th",{scope:"row",role:"rowheader"},A(r,s)))));return p("section",{class:"question","aria-label":"What if"},t.lines.map(o=>p("p",{},A(o,s))),p("table",{role:"table"},p("thead",{role:"rowgroup"},p("tr",{role:"row"},n)),p("tbody",{role:"rowgroup"},i)))}function yi(e){let{first:t}=e,s=p("button",{type:"button",class:"button",title:"Copy as text (c)",onclick:()=>G(e,s)},"Copy as text"),n=p("button",{type:"button",class:"button widen",title:"Texts over the whole width (w)",onclick:()=>e.set({wide:!e.state.wide})},"Widen");e.listen(o=>{o.has("wide")&&(n.textContent=e.state.wide?"Narrow":"Widen")});let i=t.notes.map((o,r)=>nc(e,o,r));return p("header",{class:"top"},p("div",{class:"title"},p("h1",{class:"what"},A(t.title,t.axes)),p("div",{class:"buttons"},s,wi(e),n)),bi(e),p("p",{class:"answer"},A(t.answer,t.axes),t.measured?` ${t.measured[0].toUpperCase()}${t.measured.slice(1)}.`:null),ec(e),sc(e),xi(e),i.length?p("div",{class:"notes",role:"group","aria-label":"Notes",tabindex:0},i):null)}function ec(e){let{again:t,axes:s}=e.first;if(!t)return null;let[n,...i]=t.map(o=>A(o,s));return i.length?p("details",{class:"again"},p("summary",{},n),p("ul",{},i.map(o=>p("li",{},o)))):p("p",{class:"again"},n)}function sc(e){let t=p("span",{}),n=p("button",{type:"button",class:"button",onclick:()=>e.set({stale:""})},"Dismiss"),i=p("p",{class:"stale",role:"status"},t,n);return i.hidden=!0,e.listen(o=>{if(!o.has("stale"))return;i.hidden=!e.state.stale;let r=e.state.stale.slice(0,200);t.textContent=r&&`This link names ${r}, which this program does not have. It may be of another compile. `}),i}function nc(e,t,s){let n=[t.warns?p("span",{class:"mark","aria-hidden":"true"},"\u25B2 "):null,p("bdi",{},t.words)];if(!t.list)return p("span",{class:"note",title:t.words},n);let i=()=>e.set(e.state.note===s?{note:null}:{...D,list:t.list,note:s}),o=p("button",{type:"button",class:"note","aria-pressed":"false",title:`Show only these: ${t.words}`,onclick:i},n);return e.listen(r=>r.has("note")&&o.setAttribute("aria-pressed",String(e.state.note===s))),o}var vi=[["tsv","TSV"],["markdown","Markdown"],["csv","CSV"]],ic={collectives:[["collective",e=>e.kind],["axes",(e,t)=>t[e.axes]?.words],["number",e=>e.number],["sent_bytes",e=>e.sent_bytes],["time_us",e=>e.time_us],["phase",e=>e.phase],["cause",e=>e.cause],["name",e=>e.name],["source",e=>e.place]],arrays:[["role",e=>e.role],["name",e=>e.name],["number",e=>e.number],["array",e=>e.array],["spec",e=>e.spec],["local",e=>e.local],["copies",e=>e.copies],["bytes",e=>e.bytes],["source",e=>e.place]],kernels:[["kernel",e=>e.what],["kind",e=>e.target||e.kind],["number",e=>e.number],["bytes",e=>e.bytes],["time_us",e=>e.time_us],["source",e=>e.place]]};function ki(e,t,s,n){let i=ic[t].filter(([,a])=>s.some(l=>a(l,n)!==void 0)),o=[i.map(([a])=>a),...s.map(a=>i.map(([,l])=>oc(l(a,n))))];if(e==="markdown"){let[a,...l]=o.map(c=>`| ${c.map(ac).join(" | ")} |`);return`${[a,`|${" --- |".repeat(i.length)}`,...l].join(`
`)}
`}let r=e==="csv"?rc:a=>a.replace(/[\t\r\n]+/g," ");return`${o.map(a=>a.map(r).join(e==="csv"?",":"	")).join(`
`)}
`}function oc(e){if(typeof e=="number")return String(e);let t=String(e??"");return/^[=+\-@\t\r]/.test(t)?`'${t}`:t}var rc=e=>/[",\r\n]/.test(e)?`"${e.replace(/"/g,'""')}"`:e,ac=e=>e.replace(/[\r\n]+/g," ").replace(/[\\`*_{}[\]<>|#&~]/g,"\\$&");var Ke=300,ji=["list","data","axes","kind","role"],lc=[...ji,"text","cause","note","sort","reversed"];function Mi(e){let{first:t}=e,n=[["collectives","Collectives"],["arrays","Arrays"],["kernels","Kernels"]].map(([m,g],x)=>[m,[p("span",{class:"tabname"},g),p("span",{class:"count"},t.counts[x]===null?"":` ${b(t.counts[x])}`)]]),i=V("What to list",n,()=>e.state.list,m=>e.set({list:m})),o=p("input",{type:"search",class:"filter",placeholder:"Filter (/)",title:"By name, file:line, scope, axis or kind; every word must be there","aria-label":"Filter the list",oninput:()=>e.set({text:o.value})}),r=p("div",{class:"chips"}),a=new Ge(e),l=p("div",{"aria-label":"Rows"}),c=p("div",{}),h=p("div",{class:"rows",tabindex:-1,onkeydown:m=>wc(e,h,m)},l,c),d=Ke,f=()=>{let m=e.rows(e.state.list),g=Mt(m,e.state,t);a.update(m,g);let x=e.listed;x&&`${x.type}s`===e.state.list&&(d=Math.max(d,g.findIndex(([,v])=>v===x.row)+1)),l.setAttribute("role",g.length?"listbox":"group"),c.replaceChildren();let y=Kt(e.state,e.first)==="time"?m.reduce((v,j)=>Math.max(v,j.time_us??0),0):0;l.replaceChildren(...g.slice(0,d).map(([v,j],B)=>pc(e,v,j,B===0&&!x,y))),g.length>d&&c.append(p("button",{type:"button",class:"more",onclick:()=>{d+=Ke*4,f()}},`${b(g.length-d)} more`));let $=e.data?.header.more[e.state.list];$&&!e.state.text&&c.append(p("p",{class:"nothing"},$)),g.length||c.append(cc(e,o)),$i(e,h)},u=m=>{m.has("list")&&(d=Ke),["list","data"].some(g=>m.has(g))&&i.update(),o.value!==e.state.text&&(o.value=e.state.text),ji.some(g=>m.has(g))&&hc(e,r),lc.some(g=>m.has(g))?f():(m.has("selection")||m.has("pane")||m.has("wide"))&&(e.listed?.row&&!gc(e,h)?f():$i(e,h))};return e.listen(u),u(new Set(["data"])),p("section",{class:"list","aria-label":"List"},i.bar,p("div",{class:"filters"},p("div",{class:"tools"},o,a.open,a.sort,a.order),a.facets(r),a.status),h)}var Ge=class{constructor(t){this.store=t,this.list="",this.sort=this.select("Sort by",n=>t.set({sort:n})),this.order=p("button",{type:"button",class:"button order",onclick:()=>t.set({reversed:!t.state.reversed})}),this.cause=this.select("Only this cause",n=>t.set({cause:n||null})),this.count=p("span",{class:"shown",role:"status"});let s=p("button",{type:"button",class:"button",onclick:()=>t.set(D)},"Clear");this.status=p("p",{class:"dim status"},this.count,s),this.box=p("div",{class:"facets",role:"group","aria-label":"Filters",hidden:!0}),this.open=p("button",{type:"button",class:"button facet",title:"Filter by axis, kind and cause","aria-expanded":"false",onclick:()=>this.show(!!this.box.hidden)},"Filters \u25BE"),this.box.addEventListener("keydown",n=>{n.key==="Escape"&&(n.stopPropagation(),this.show(!1),this.open.focus())})}facets(t){return this.box.append(t,this.cause,this.copies()),this.box}copies(){let{store:t}=this,s=vi.map(([n,i])=>{let o=p("button",{type:"button",class:"button",onclick:()=>{let{list:r}=t.state,a=Mt(t.rows(r),t.state,t.first).map(([l])=>l);G(t,o,ki(n,r,a,t.data?.header.axis_sets??[]))}},i);return o});return p("div",{class:"chips",role:"group","aria-label":"Copy the rows as"},"Copy the rows as",s)}show(t){this.box.hidden=!t,this.open.setAttribute("aria-expanded",String(t))}select(t,s){let n=p("select",{"aria-label":t,title:t,onchange:()=>s(n.value)});return n}update(t,s){let{state:n,data:i}=this.store,o=`${n.list} ${!!i}`;o!==this.list&&this.options(t),this.list=o,this.sort.value=Kt(n,this.store.first),this.cause.value=n.cause??"",this.order.textContent=n.reversed?"\u2191":"\u2193",this.order.setAttribute("aria-pressed",String(n.reversed)),this.order.setAttribute("aria-label","Reverse the order"),this.order.title="Reverse the order";let r=l=>l.reduce((c,h)=>c+h.number,0),a=s.length<t.length;this.count.textContent=a?`${b(r(s.map(([l])=>l)))} of ${b(r(t))}`:"",this.status.hidden=!a,this.open.setAttribute("aria-pressed",String([n.axes,n.kind,n.role,n.cause??null].some(l=>l!==null)))}options(t){this.sort.replaceChildren(...Ds(this.store.state.list,t).map(([i,o])=>p("option",{value:i},`by ${o}`)));let s=new Map;for(let i of t)for(let o of i.causes??[])s.set(o,(s.get(o)??0)+i.number);let n=[...s].sort((i,o)=>o[1]-i[1]);this.cause.replaceChildren(p("option",{value:""},"any cause"),...n.map(([i,o])=>p("option",{value:i},`${i} (${b(o)})`))),this.cause.hidden=n.length<2}};function cc(e,t){let{state:s}=e;if(ut(s))return p("p",{class:"nothing"},"Nothing fits. ",p("button",{type:"button",class:"button",onclick:()=>{t.value="",e.set(D)}},"Clear"));let n={collectives:"hlo",kernels:"hlo",arrays:"inputs"}[s.list]??"",i=e.data?.header.missing[n],o={collectives:"No collectives: the devices do not communicate.",arrays:"No arrays.",kernels:"No fused kernels."}[s.list];return p("p",{class:"nothing"},i??(e.data?o:""))}function hc(e,t){let{first:s,state:n}=e,i=e.rows(n.list),o=(a,l,c,h,d)=>p("button",{type:"button",class:"chip",title:h,"aria-label":d,"aria-pressed":String(l),onclick:c},a),r=[];if(n.list==="collectives"){for(let[a,l]of Xe(i,"axes")){let c=s.axis_sets[a]??e.data?.header.axis_sets[a],h=p("span",{class:`square ${O(c.axes,s.axes)}`});r.push(o([h,`${c.words} `,p("span",{class:"count"},b(l))],n.axes===a,()=>e.set({axes:n.axes===a?null:a}),`Only over ${c.words}`,`${c.words}, ${b(l)}`))}for(let[a,l]of Xe(i,"kind"))r.push(o([q(a)," ",p("span",{class:"count"},b(l))],n.kind===a,()=>e.set({kind:n.kind===a?null:a}),`Only ${a}`,`${a}, ${b(l)}`))}if(n.list==="arrays")for(let[a,l]of Xe(i,"role"))r.push(o([`${a}s `,p("span",{class:"count"},b(l))],n.role===a,()=>e.set({role:n.role===a?null:a}),`Only ${a}s`,`${a}s, ${b(l)}`));t.replaceChildren(...r.length>1?r:[])}function Xe(e,t){let s=new Map;for(let n of e)s.set(n[t],(s.get(n[t])??0)+n.number);return[...s].sort((n,i)=>i[1]-n[1])}function pc(e,t,s,n,i){let o=e.state.list.slice(0,-1),r={collective:fc,array:uc,kernel:mc}[o](e,t,i);return p("div",{class:`row ${r.color}`,role:"option","data-row":s,"aria-selected":"false",tabindex:n?0:-1,title:r.full??r.name,onclick:()=>{let a=e.state.pane==="list"&&dc(e);e.select({type:o,row:s}),a&&e.set({pane:"details"})}},q(r.sign),p("span",{class:"name"},p("bdi",{},r.name)),r.axes?p("span",{class:"axisname"},r.axes):null,p("span",{class:"size"},r.size),p("span",{class:"sub"},r.sub),t.number>1?p("span",{class:"times"},`\xD7 ${b(t.number)}`):null,r.share===null?null:p("span",{class:"bar",style:{"--share":String(r.share)}}))}function dc(e){return e.isNarrow()}function Si(e,t,s,n){return t?e.time?{size:e.time,beside:`measured, ${s}`,share:e.time_us/t}:{size:"unknown",beside:s,share:null}:{size:s,beside:e.time&&`${e.time} measured`,share:n}}function fc(e,t,s){let n=e.first.axis_sets[t.axes]??e.data?.header.axis_sets[t.axes],i=t.what.split("/").slice(0,2).join("/"),{beside:o,size:r,share:a}=Si(t,s,t.sent,t.share),l=[o,t.kind,t.place,i===t.name?"":i].filter(Boolean).join(" \xB7 ");return{sign:t.kind,name:t.name,full:`${t.what}
${t.kind}, ${t.phase||"phase unknown"}, ${t.cause}, ${t.place}`,size:r,sub:l,share:a,axes:n?.words??"",color:O(n?.axes??null,e.first.axes)}}function uc(e,t){let s=e.data?.header.shardings[t.sharding],n=[...new Set((s?.spec??[]).flat())],i=[t.array,t.spec,t.place].filter(Boolean).join(" \xB7 ");return{sign:"array",name:t.name,full:`${t.name}
${i}`,size:t.all,sub:i,share:null,axes:"",color:O(n,e.first.axes)}}function mc(e,t,s){let n=t.contains.slice(0,3).map(([l,c])=>c>1?`${l} \xD7${c}`:l).join(", "),{beside:i,size:o,share:r}=Si(t,s,t.traffic,null),a=[i,t.target||t.kind,n,t.place].filter(Boolean).join(" \xB7 ");return{sign:"kernel",name:t.what,full:`${t.what}
${a}`,size:o,sub:a,share:r,axes:"",color:"ax-none"}}function $i(e,t){let{list:s}=e.state,n=e.listed,o=n!==null&&`${n.type}s`===s?t.querySelector(`.row[data-row="${n.row}"]`):null;for(let r of t.querySelectorAll('.row[aria-selected="true"], .row[tabindex="0"]'))r.setAttribute("aria-selected","false"),r.tabIndex=-1;(o??t.querySelector(".row"))?.setAttribute("tabindex","0"),o?.setAttribute("aria-selected","true"),o&&requestAnimationFrame(()=>xc(t,o))}function gc(e,t){let{list:s}=e.state,n=e.listed;return`${n?.type}s`!==s||t.querySelector(`.row[data-row="${n?.row}"]`)!==null}function xc(e,t){let[s,n]=[e.getBoundingClientRect(),t.getBoundingClientRect()];n.top<s.top?e.scrollTop-=s.top-n.top:n.bottom>s.top+e.clientHeight&&(e.scrollTop+=n.bottom-s.top-e.clientHeight)}function wc(e,t,s){let n=[...t.querySelectorAll(".row")],i=n.indexOf(s.target),o=s.key==="Enter"||s.key===" "?i:W(s,i,n.length);o===null||o<0||(s.preventDefault(),n[o].focus(),e.select({type:e.state.list.slice(0,-1),row:Number(n[o].dataset.row)}))}var bc=3;function ce(e){let{graph:t}=e.header,s=o=>e.column(`graph.${o}`),n=s("run.phase"),i=yc(s);return{size:s("kernel.box").length,phases:[...new Set(n)].sort((o,r)=>o-r),starts:s("run.start"),rows:s("run.row"),runPhases:n,tones:new Map([...new Set(s("run.row"))].map((o,r)=>[o,r%2])),events:i,levels:vc(i,t.lanes.length),lanes:t.lanes,firstMatmul:t.first_matmul,isScheduled:t.is_scheduled}}function yc(e){let[t,s,n,i,o,r]=["collective","lane","start","end","first_use","is_async"].map(l=>e(`event.${l}`)),a=e("collective.row");return Array.from(t,(l,c)=>({collective:l,row:a[l]??-1,lane:s[c],start:n[c],end:Math.max(i[c],n[c]),firstUse:o[c],isAsync:!!r[c],level:0}))}function vc(e,t){let s=Array.from({length:t},()=>[]);for(let n of e){let i=s[n.lane],o=i.findIndex(r=>r<=n.start);o>=0?n.level=o:n.level=i.length<bc?i.length:i.indexOf(Math.min(...i)),i[n.level]=Math.max(n.end,i[n.level]??0)}return s.map(n=>Math.max(1,n.length))}function it(e,t){let s=0,n=e.starts.length;for(;s<n;){let i=s+n>>1;e.starts[i]<=t?s=i+1:n=i}return s-1}function he(e,t){return t+1<e.starts.length?e.starts[t+1]:e.size}function Oi(e,t,s,n,i){let o=new Int32Array(i+1);for(let a of e.events){if(a.lane!==t||a.firstUse<=a.end)continue;let[l,c]=[a.end,a.firstUse].map(h=>Math.max(0,Math.min(i,Math.round((h-s)/n))));o[l]++,o[c]--}let r=0;return o.subarray(0,i).map(a=>r+=a)}function Ve(e,t,s,n){let i=-1,o=n;return e.events.forEach((r,a)=>{if(r.lane!==t)return;let l=Math.max(0,r.start-s,s-r.end);(l<o||l===o&&i<0)&&([i,o]=[a,l])}),i}function Ye(e,t,s){let n=e.events[t],i=s.header.collectives[n.row],o=s.column("graph.collective.bytes")[n.collective]??-1,r=s.header.axis_sets[e.lanes[n.lane]]?.words??"";return[`${i?.kind??"collective"} over ${r}, ${o<0?"size unknown":`payload ${k(o)}`}`,i?.what??"",kc(n),$c(e,n,s)].filter(Boolean)}function kc(e){if(!e.isAsync)return`at place ${b(e.start)}, not asynchronous`;let t=e.end-e.start,s=t?S(t,"kernel"):"no kernel";return`from place ${b(e.start)} to ${b(e.end)}: ${s} in between`}function $c(e,t,s){if(t.firstUse<0)return"no kernel takes its result";let n=t.firstUse-t.end,i=s.strings("graph.kernel.names").at(t.firstUse),o=e.firstMatmul>=0&&t.end<=e.firstMatmul&&t.firstUse>e.firstMatmul?", after the first matmul":"";return`first used ${n>0?`${S(n,"kernel")} later, `:""}by ${i}${o}`}var Qe=14,R=14,ts=9,pe=14,jc="10px system-ui, sans-serif";function xt(e){return Qe+R*(e.phases.length+e.lanes.length)+(e.lanes.length?4:0)+pe}function _(e,t){return Qe+R*t+(t>=e.phases.length?4:0)}function J(e,t){return e.left+(t-e.from)/e.span*e.width}function Ai(e,t){let{scale:s,strip:n}=t;e.font=jc,e.textBaseline="middle",Mc(e,t),e.save(),e.beginPath(),e.rect(s.left,0,s.width,xt(n)),e.clip(),Oc(e,t),Ac(e,t),n.lanes.forEach((i,o)=>Ec(e,t,o)),n.lanes.forEach((i,o)=>Cc(e,t,o)),Lc(e,t),Bc(e,t),_c(e,t),e.restore()}function Mc(e,{strip:t,scale:s,color:n,laneColors:i,laneNames:o,phaseNames:r}){e.textAlign="right",[...r,...o].forEach((a,l)=>{let c=l>=r.length;e.fillStyle=c?i[l-r.length]:r.length>1?n(`ph-${t.phases[l]}`):n("dim"),e.fillText(Sc(e,a,s.left-8),s.left-6,_(t,l)+R/2)})}function Sc(e,t,s){if(e.measureText(t).width<=s)return t;let n=t;for(;n.length>1&&e.measureText(`${n}\u2026`).width>s;)n=n.slice(0,-1);return`${n}\u2026`}function Oc(e,{strip:t,scale:s,color:n}){e.fillStyle=n("rule");for(let i=0;i<=t.phases.length+t.lanes.length;i++){let o=i===t.phases.length+t.lanes.length?_(t,i-1)+R:_(t,i);e.fillRect(s.left,o-.5,s.width,.5)}}function Ac(e,t){let{strip:s,scale:n,color:i}=t,o=[.62,.4],r=s.phases.map(()=>-1);e.fillStyle=i("line");let a=Math.min(s.starts.length-1,it(s,n.from+n.span));for(let l=Math.max(0,it(s,n.from));l<=a;l++){let c=s.phases.indexOf(s.runPhases[l]),h=J(n,s.starts[l]),d=J(n,he(s,l));if(d<=r[c])continue;let f=Math.max(h,r[c]),u=Math.max(.7,d-f);r[c]=f+u,e.globalAlpha=o[s.tones.get(s.rows[l])??0],e.fillRect(f,_(s,c)+1,Math.max(.7,u-(u>4?.7:0)),R-2),d-h>24&&Tc(e,t,l,h,d,c)}e.globalAlpha=1}function Tc(e,t,s,n,i,o){let r=Math.max(n,t.scale.left)+3,a=Math.min(i,t.scale.left+t.scale.width)-r-3,l=t.label(t.strip.rows[s]);a<20||e.measureText(l).width>a||(e.globalAlpha=1,e.fillStyle=t.color("text"),e.textAlign="left",e.fillText(l,r,_(t.strip,o)+R/2+.5),e.fillStyle=t.color("line"))}function Ec(e,{strip:t,scale:s,laneColors:n},i){let r=Math.ceil(s.width/2),a=Oi(t,i,s.from,s.span*2/s.width,r),l=a.reduce((h,d)=>Math.max(h,d),0),c=_(t,t.phases.length+i)+ts+2;if(l){e.fillStyle=n[i];for(let h=0;h<r;h++){let d=h+1;for(;d<r&&a[d]===a[h];)d++;a[h]&&(e.globalAlpha=.2+.6*(a[h]/Math.max(4,l)),e.fillRect(s.left+h*2,c,(d-h)*2,2)),h=d-1}e.globalAlpha=1}}function Ti({strip:e,scale:t},s){let n=e.events[s],i=ts/e.levels[n.lane],o=J(t,n.start),r=_(e,e.phases.length+n.lane)+1+n.level*i,a=J(t,n.end)-o;return[o,r,Math.max(1.6,a-(a>4?.7:0)),Math.max(1.5,i-(e.levels[n.lane]>1?.8:0))]}function Cc(e,t,s){let{strip:n,scale:i,laneColors:o}=t;e.beginPath(),n.events.forEach((r,a)=>{r.lane!==s||r.start>i.from+i.span||r.end<i.from-i.span/100||e.rect(...Ti(t,a))}),e.fillStyle=o[s],e.globalAlpha=.85,e.fill(),e.globalAlpha=1}function Lc(e,{strip:t,scale:s,color:n}){let i=xt(t)-pe/2+1,o=zc(s.span*70/s.width);e.fillStyle=n("dim");for(let r=Math.ceil(s.from/o)*o;r<=s.from+s.span;r+=o){let a=J(s,r),l=b(r),c=e.measureText(l).width/2,h=Math.max(s.left+c,Math.min(s.left+s.width-c,a));e.textAlign="center",e.fillRect(a-.25,i-pe/2-1,.5,3),Math.abs(h-a)<12&&e.fillText(l,h,i+1)}}function zc(e){let t=10**Math.floor(Math.log10(Math.max(1,e)));return[1,2,5,10].map(s=>s*t).find(s=>s>=e)??10*t}function Bc(e,{strip:t,scale:s,color:n}){if(t.firstMatmul<0)return;let i=J(s,t.firstMatmul),o="first matmul",r=e.measureText(o).width;if(i<s.left-1||i>s.left+s.width)return;e.strokeStyle=e.fillStyle=n("text"),e.lineWidth=1,e.setLineDash([3,2]),Ze(e,i,4,i,xt(t)-pe),e.setLineDash([]),e.textAlign="left";let a=i+4+r<s.left+s.width;e.fillText(o,a?i+4:i-4-r,Qe/2)}function Ze(e,t,s,n,i){e.beginPath(),e.moveTo(t,s),e.lineTo(n,i),e.stroke()}function _c(e,t){let{strip:s,scale:n,color:i}=t;e.strokeStyle=e.fillStyle=i("select"),e.lineWidth=1.5;for(let o of t.kernels){let r=s.phases.indexOf(s.runPhases[it(s,o)]),a=J(n,o);e.fillRect(a-.5,_(s,r)-1,Math.max(2,J(n,o+1)-a),R+1)}s.events.forEach((o,r)=>t.lit(r)&&Je(e,t,r,r===t.current)),t.current>=0&&Je(e,t,t.current,!0),t.hover>=0&&t.hover!==t.current&&Je(e,t,t.hover,!0)}function Je(e,t,s,n){let{strip:i,scale:o}=t,r=i.events[s],[a,l,c,h]=Ti(t,s);if(e.strokeRect(a-1,l-1,c+2,h+2),!n||r.firstUse<0)return;let d=J(o,r.firstUse+.5),f=i.phases.indexOf(i.runPhases[it(i,r.firstUse)]),u=_(i,i.phases.length+r.lane)+ts+3,m=d<=a+c;m||Ze(e,a+c,u,d,u),Ze(e,d,m?l-1:u,d,_(i,f)+R),e.beginPath(),e.moveTo(d,_(i,f)+R-6),e.lineTo(d-3.5,_(i,f)+R),e.lineTo(d+3.5,_(i,f)+R),e.fill()}var es=12,Pc=5,Rc=520,Nc=0;function Ei(e){let t=p("section",{class:"schedule","aria-label":"Schedule"}),s=()=>{let{data:n}=e,i=n&&!n.header.graph?.missing?ce(n):null;if(!i?.size)return t.replaceChildren(p("p",{class:"nothing"},n?"No schedule: no kernel is known to run.":""));t.replaceChildren(...new Bt(e,i).parts)};return e.listen(n=>n.has("data")&&s()),e.data&&s(),t}var Bt=class{constructor(t,s){this.store=t,this.strip=s,this.data=t.data,this.view={from:0,span:Math.max(es,s.size)},this.current=this.hover=-1,this.width=0,this.painted=()=>{},this.draw=Q(()=>this.paint());let{graph:n,axis_sets:i}=this.data.header;this.laneNames=s.lanes.map(o=>i[o]?.words??"unknown"),this.laneClasses=s.lanes.map(o=>O(i[o]?.axes??null,t.first.axes)),this.phaseNames=s.phases.map(o=>n.is_differentiated?n.phases[o]:"kernels"),this.labels=this.data.strings("graph.row.labels"),this.labelOf=new Map,this.lit=new Set,this.kernels=[],this.canvas=p("canvas",{"aria-hidden":"true"}),this.option=p("div",{class:"offscreen",role:"option",id:`pjit-strip-${++Nc}`,"aria-selected":"true"}),this.box=this.makeBox(),this.tip=U(this.box),this.parts=[this.head(),this.box],t.listen(o=>this.changed(o)),new ResizeObserver(()=>this.resize()).observe(this.box),this.follow()}makeBox(){return p("div",{class:"strip",role:"listbox",tabindex:0,"aria-label":"Collectives in the order of the schedule: left and right walk, up and down change the lane, plus and minus zoom, 0 shows all","aria-activedescendant":this.option.id,style:{height:`${xt(this.strip)}px`},onkeydown:t=>this.key(t),onwheel:t=>this.wheel(t),onpointerdown:t=>this.grab(t),onpointermove:t=>this.point(t),onpointerleave:()=>this.leave()},this.canvas,this.option)}head(){let{size:t,isScheduled:s}=this.strip,i=`${s?"XLA's schedule":"order of the program's bytes, XLA fixed none"}; places count kernels, not time; ${b(t)} kernels`,o=(r,a,l)=>p("button",{type:"button",class:"button",title:a,"aria-label":a,onclick:l},r);return p("div",{class:"striphead"},p("h3",{},"Schedule"),p("span",{class:"dim stripwords",title:i},i),p("span",{class:"stripzoom"},o("\u2212","Zoom out (-)",()=>this.zoom(2)),o("+","Zoom in (+)",()=>this.zoom(.5)),o("All","Show all (0)",()=>this.show(0,t))))}resize(){this.width=this.box.clientWidth,this.draw()}changed(t){t.has("selection")&&this.follow(),["theme","pane","centre","wide"].some(s=>t.has(s))&&this.draw()}follow(){let{selection:t}=this.store.state,{strip:s}=this,n=a=>t?.type==="collective"&&a.row===t.row;(this.current<0||!n(s.events[this.current]))&&(this.current=s.events.findIndex(n)),this.lit=new Set(s.events.flatMap((a,l)=>n(a)?[l]:[])),this.kernels=t?.type==="kernel"?this.kernelsOf(2*t.row+1):t?.type==="buffer"?this.store.selected?.kernels??[]:[];let i=[...[...this.lit].map(a=>s.events[a].start),...this.kernels],{from:o,span:r}=this.view;i.length&&!i.some(a=>a>=o&&a<=o+r)&&this.show(i[0]-r/2,r),this.tell(),this.draw()}kernelsOf(t){let s=[];return this.data.column("graph.kernel.entity").forEach((n,i)=>n===t&&s.push(i)),s}tell(){let{strip:t,current:s}=this;this.option.textContent=s<0?`${b(t.events.length)} collectives; none selected`:Ye(t,s,this.data).join("; "),this.option.setAttribute("aria-setsize",String(t.events.length)),s<0?this.option.removeAttribute("aria-posinset"):this.option.setAttribute("aria-posinset",String(s+1))}scale(){let t=this.width<Rc?66:92;return{left:t,width:Math.max(1,this.width-t-10),...this.view,gap:0}}paint(){if(!this.width)return;let t=globalThis.devicePixelRatio||1,s=xt(this.strip);this.canvas.width=this.width*t,this.canvas.height=s*t,Object.assign(this.canvas.style,{width:`${this.width}px`,height:`${s}px`});let n=this.canvas.getContext("2d");if(!n)return;n.scale(t,t);let i=getComputedStyle(this.canvas),o=r=>i.getPropertyValue(`--${r}`).trim()||"#888";Ai(n,{strip:this.strip,scale:this.scale(),color:o,laneColors:this.laneClasses.map(o),laneNames:this.laneNames,phaseNames:this.phaseNames,label:r=>this.label(r),lit:r=>this.lit.has(r),kernels:this.kernels,current:this.current,hover:this.hover}),this.painted()}label(t){let s=this.labelOf.get(t)??this.labels.at(t);return this.labelOf.set(t,s),s}show(t,s){let n=Math.max(es,this.strip.size),i=Math.max(es,Math.min(n,s));this.view={from:Math.max(0,Math.min(n-i,t)),span:i},this.draw()}zoom(t,s){let{from:n,span:i}=this.view,o=this.strip.events[this.current],r=o&&o.start>=n&&o.start<=n+i,a=s??(r?o.start:n+i/2);this.show(a-(a-n)*t,i*t)}wheel(t){let s=t.ctrlKey||t.metaKey||t.shiftKey;if(!s&&Math.abs(t.deltaX)<=Math.abs(t.deltaY))return;t.preventDefault();let{width:n}=this.scale();s?this.zoom(1.0018**(t.deltaY||t.deltaX),this.place(t)):this.show(this.view.from+t.deltaX/n*this.view.span,this.view.span)}place(t){let{left:s,width:n,from:i,span:o}=this.scale();return i+(t.clientX-this.box.getBoundingClientRect().left-s)/n*o}grab(t){if(t.button)return;let{from:s,span:n}=this.view,{width:i}=this.scale(),o=!1;this.box.setPointerCapture(t.pointerId);let r=c=>{o||=Math.abs(c.clientX-t.clientX)>3,o&&this.show(s-(c.clientX-t.clientX)/i*n,n)},a=()=>{this.box.removeEventListener("pointermove",r),this.box.removeEventListener("pointerup",l),this.box.removeEventListener("pointercancel",a)},l=c=>{a(),o||this.pick(c)};this.box.addEventListener("pointermove",r),this.box.addEventListener("pointerup",l),this.box.addEventListener("pointercancel",a)}at(t){let{strip:s}=this,n=t.clientY-this.box.getBoundingClientRect().top,i=this.place(t),o=Math.floor(i),r=[...s.phases,...s.lanes].findIndex((h,d)=>n>=_(s,d)&&n<_(s,d)+R),{width:a,span:l}=this.scale();return r>=s.phases.length?{event:Ve(s,r-s.phases.length,i,Pc*l/a),kernel:-1}:{event:-1,kernel:r>=0&&o>=0&&o<s.size&&s.runPhases[it(s,o)]===s.phases[r]?o:-1}}point(t){let s=this.at(t);this.box.style.cursor=s.event>=0||s.kernel>=0?"pointer":"",s.event!==this.hover&&this.draw(),this.hover=s.event;let n=s.event>=0?Ye(this.strip,s.event,this.data):s.kernel>=0?this.kernelLines(s.kernel):[];n.length?this.tip.show(n,t.clientX,t.clientY):this.tip.hide()}leave(){this.hover=-1,this.tip.hide(),this.draw()}kernelLines(t){let{strip:s,data:n}=this,i=it(s,t),o=this.phaseNames[s.phases.indexOf(s.runPhases[i])],r=he(s,i)-s.starts[i],a=n.strings("graph.labels").at(n.column("graph.kernel.label")[t]);return[`${this.label(s.rows[i])}, ${o}`,`kernel ${b(t)}: ${n.strings("graph.kernel.names").at(t)} (${a})`,`${b(r)} in a row here, from place ${b(s.starts[i])}`]}pick(t){let s=this.at(t);this.box.focus({preventScroll:!0}),s.event>=0?this.choose(s.event):s.kernel>=0&&this.chooseKernel(s.kernel)}choose(t){this.current=t;let{row:s,start:n}=this.strip.events[t],{from:i,span:o}=this.view;(n<i||n>i+o)&&this.show(n-o/2,o),s>=0&&this.store.select({type:"collective",row:s}),this.tell(),this.draw()}chooseKernel(t){let s=this.data.column("graph.kernel.entity")[t],n=this.data.column("graph.kernel.spot")[t];s>=0?this.store.select({type:s%2?"kernel":"collective",row:s>>1}):n>=0&&this.store.select({type:"line",row:n})}key(t){if(t.ctrlKey||t.metaKey||t.altKey)return;let{strip:s,current:n}=this,i=s.events.length-1,{from:o,span:r}=this.view,l={ArrowRight:Math.min(i,n+1),ArrowLeft:Math.max(0,n-1),Home:0,End:i,ArrowDown:this.inLane(1),ArrowUp:this.inLane(-1)}[t.key],c={"+":()=>this.zoom(.5),"=":()=>this.zoom(.5),"-":()=>this.zoom(2),0:()=>this.show(0,s.size),PageDown:()=>this.show(o+r*.8,r),PageUp:()=>this.show(o-r*.8,r)};l===void 0&&!c[t.key]||(t.preventDefault(),t.stopPropagation(),l===void 0?c[t.key]():i>=0&&this.choose(l))}inLane(t){let{strip:s,current:n}=this,i=s.events[Math.max(0,n)];for(let o=(i?.lane??0)+t;o>=0&&o<s.lanes.length;o+=t){let r=Ve(s,o,i.start,1/0);if(r>=0)return r}return Math.max(0,n)}};var de={high:168,low:120},wt=22,Ic=4,Ci="10px system-ui, sans-serif";function Wc(e,t){let s=Math.max(1,Math.round(e.width)),n=new Int32Array(s);for(let i=0;i<s;i++){let[o,r]=[i,i+1].map(l=>e.from+l/s*e.span),a=Math.min(t.length-1,Math.floor(o));for(let l=a+1;l<Math.min(t.length,Math.ceil(r));l++)t[l]>t[a]&&(a=l);n[i]=o>=t.length?-1:a}return n}function Dc(e){let t=1;for(;t*6<e;)t*=2;return t}function Fc({total:e,limit:t}){let s=0;for(let i of e)s=Math.max(s,i);let n=t&&t.bytes<1.5*s?Math.max(s,t.bytes):s;return Math.max(1,n)}function Li(e,t){let{scale:s,color:n}=t,i=Fc(t),o=t.height-wt-Ic,r=h=>wt+o*(1-h/i);e.font=Ci,e.textBaseline="middle",Hc(e,t,i,r);let a=Wc(s,t.total),l=h=>s.left+h*s.width/a.length,c=new Float64Array(a.length);for(let h of t.bands){let d=c.map((f,u)=>a[u]<0?f:f+h.bytes[a[u]]);zi(e,l,r,c,d),e.fillStyle=n(h.color),e.fill(),c.set(d)}Bi(e,l,r,c),e.strokeStyle=n("text"),e.globalAlpha=.75,e.lineWidth=1,e.stroke(),e.globalAlpha=1,t.life&&qc(e,t,a,l,r),Uc(e,t,r)}function Hc(e,{scale:t,color:s},n,i){let o=Dc(n);e.textAlign="right";for(let r=0;r<=n;r+=o)e.fillStyle=s("rule"),e.fillRect(t.left,Math.round(i(r))-.5,t.width,1),e.fillStyle=s("dim"),e.fillText(r?yt(r):"0",t.left-6,i(r))}function zi(e,t,s,n,i){e.beginPath();let o=i.length;for(let r=0;r<o;r++){let a=s(i[r]);r&&i[r]===i[r-1]||(r&&e.lineTo(t(r),s(i[r-1])),e.lineTo(t(r),a))}e.lineTo(t(o),s(i[o-1]));for(let r=o-1;r>=0;r--)r<o-1&&n[r]===n[r+1]||(r<o-1&&e.lineTo(t(r+1),s(n[r+1])),e.lineTo(t(r+1),s(n[r])));e.lineTo(t(0),s(n[0])),e.closePath()}function Bi(e,t,s,n){e.beginPath();for(let i=0;i<n.length;i++)e.lineTo(t(i),s(n[i])),e.lineTo(t(i+1),s(n[i]))}function qc(e,{life:t,color:s},n,i,o){let r=t,a=Float64Array.from(n,l=>l<0?0:r[l]);zi(e,i,o,new Float64Array(a.length),a),e.fillStyle=e.strokeStyle=s("bg"),e.globalAlpha=.35,e.fill(),e.globalAlpha=1,Bi(e,i,o,a),e.lineWidth=4,e.stroke(),e.strokeStyle=s("select"),e.lineWidth=1.8,e.stroke()}function Uc(e,t,s){let{height:n,scale:i,color:o,total:r,limit:a,peak:l,at:c,hover:h}=t,d=$=>i.left+($+.5-i.from)/i.span*i.width,f=$=>$>=i.from&&$<i.from+i.span,u=($,v)=>{e.beginPath(),e.moveTo($,v),e.lineTo($,n),e.stroke()};if(a&&s(a.bytes)>wt/2&&(e.strokeStyle=e.fillStyle=o("note"),e.setLineDash([5,3]),e.beginPath(),e.moveTo(i.left,s(a.bytes)),e.lineTo(i.left+i.width,s(a.bytes)),e.stroke(),e.setLineDash([]),e.textAlign="right",e.fillText(a.words,i.left+i.width-2,s(a.bytes)-7)),h>=0&&f(h)&&(e.strokeStyle=o("text"),e.lineWidth=1,e.setLineDash([3,2]),u(d(h),wt-6),e.setLineDash([])),f(c)&&(e.strokeStyle=o("select"),e.lineWidth=1.5,u(d(c),wt-4)),!f(l))return;let m=`peak ${k(r[l])}`,g=e.measureText(m).width,[x,w]=[d(l),Math.max(wt-3,s(r[l])-2)];e.fillStyle=o("text"),e.beginPath(),e.moveTo(x,w),e.lineTo(x-4,w-6),e.lineTo(x+4,w-6),e.fill();let y=x+10+g<i.left+i.width;e.textAlign=y?"left":"right",e.font=`600 ${Ci}`,e.fillText(m,y?x+8:x-8,w-6)}function ss(e,t){let s=e.reduce((c,h)=>c+h,0),n=[];if(!s)return e.map(()=>({...t,w:0,h:0}));let i=t.w*t.h/s,{x:o,y:r,w:a,h:l}=t;for(let c=0;c<e.length;){let h=Math.max(1e-9,Math.min(a,l)),d=c+1,f=e[c]*i,u=_i(f,e[c]*i,e[c]*i,h);for(;d<e.length;){let x=f+e[d]*i,w=_i(x,e[c]*i,e[d]*i,h);if(w>u)break;[f,u]=[x,w],d++}let m=f/h,g=0;for(;c<d;c++){let x=m?e[c]*i/m:0;n.push(a>=l?{x:o,y:r+g,w:m,h:x}:{x:o+g,y:r,w:x,h:m}),g+=x}a>=l?[o,a]=[o+m,a-m]:[r,l]=[r+m,l-m]}return n}function _i(e,t,s,n){return Math.max(n*n*t/(e*e),e*e/Math.max(1e-9,n*n*s))}var _t=60,Kc=70,Xc={width:116,height:14},ns={width:46,height:18};function Pi(e,t){let{memory:s,rows:n,limit:i}=t,o=p("div",{class:"memrow memhead","aria-hidden":"true"},["","what","kind","spec","each","all",s.hasCurve?"alive":""].map((d,f)=>p("span",{class:Gc[f]},d))),r=n.slice(0,i).map(d=>Vc(e,t,d)),a=n.slice(i),l=[a.length?p("button",{type:"button",class:"more",onclick:t.more},`${b(a.length)} more, ${k(a.reduce((d,f)=>d+f.bytes,0))}`):null,t.rest>0?p("p",{class:"nothing"},`and ${k(t.rest)} in smaller buffers, which have no name here`):null],c=n.slice(0,i).some(({group:d})=>s.rows[d].spec!=="not known");return[p("div",{class:c?"":"nospec"},o,Ri(e,"memlist",r)),p("div",{},l)]}var Gc=["swatch","memname","memkind","memspec code","figure memeach","figure","memlife"];function Ri(e,t,s){let n=p("div",{class:t,role:s.length?"listbox":"group","aria-label":"Values, most bytes first",onkeydown:i=>Zc(e,n,i)},s);return os(e,n),s.length||n.append(p("p",{class:"nothing"},"Nothing is alive.")),n}function Vc(e,{memory:t,at:s},{group:n,count:i,bytes:o}){let r=t.rows[n],a=t.kinds[r.kind],l=r.number===1?"":i===r.number?`\xD7 ${i}`:`\xD7 ${i} of ${r.number}`,c=r.turns;return p("div",{class:"memrow",role:"option","data-group":n,"aria-selected":"false","aria-label":`${r.name}${l&&`, ${l}`}, ${a}, ${k(o)}, spec ${r.spec}${r.place&&`, ${r.place}`}`,tabindex:-1,title:[r.name,a,r.place].filter(Boolean).join(`
`),onclick:()=>e.select({type:"buffer",row:n})},p("span",{class:`swatch mem-${r.kind}`}),p("span",{class:"memname"},p("bdi",{class:"code"},r.name),p("span",{class:"dim"},` ${[l,r.place].filter(Boolean).join(" \xB7 ")}`)),p("span",{class:"memkind dim"},c?`${a}, ${b(c)} turns`:a),p("span",{class:r.spec==="not known"?"memspec dim":"memspec code"},r.spec),p("span",{class:"figure memeach dim"},r.number>1?r.each:""),p("span",{class:"figure"},k(o)),p("span",{class:"memlife"},t.hasCurve?Yc(t,n,s):null))}function Yc(e,t,s){let{values:n,kind:i}=e.rows[t],{width:o,height:r}=Xc,a=new Map;for(let u of n)for(let[m,g]of e.spans(u))a.set(m,(a.get(m)??0)+1),a.set(g+1,(a.get(g+1)??0)-1);let l=u=>Math.round(10*(u*o)/e.kernels)/10,c=0,h=0,d=[...a].sort((u,m)=>u[0]-m[0]);for(let[,u]of d)h=Math.max(h,c+=u);c=0;let f="";for(let[u,m]of d){let g=x=>Math.round(10*(r-1-x/h*(r-3)))/10;f+=`${f?"L":"M"}${l(u)} ${g(c)}`,c+=m,f+=`L${l(u)} ${g(c)}`}return M("svg",{class:`mem-${i}`,width:o,height:r,"aria-hidden":"true"},M("path",{class:"ground",d:`M0 ${r-.5}H${o}`}),M("path",{class:"span",d:f}),s>=0?M("path",{class:"pin",d:`M${l(s+.5)} 0V${r}`}):null)}function Ni(e,t,s){let{memory:n,rows:i}=t,o=new Map;for(let u of i){let m=n.rows[u.group],g=m.scope.split("/")[0],x=t.by==="kind"?n.kinds[m.kind]:g||"no scope",w=o.get(x)??{name:x,rows:[],bytes:0};w.rows.push(u),w.bytes+=u.bytes,o.set(x,w)}let r=[...o.values()].sort((u,m)=>m.bytes-u.bytes),a=i.reduce((u,m)=>u+m.bytes,0)+t.rest,l=ss([...r.map(u=>u.bytes),...t.rest>0?[t.rest]:[]],{x:0,y:0,w:s.width,h:s.height}),c=[],h=[];r.forEach((u,m)=>{let g=l[m],x=g.h>42&&g.w>60;x&&h.push(p("span",{class:"maptitle",style:is({...g,h:15})},p("b",{},u.name),` ${k(u.bytes)}`));let w=x?{...g,y:g.y+15,h:g.h-15}:g,y=ss(u.rows.map($=>$.bytes),w);u.rows.slice(0,Kc).forEach(($,v)=>{y[v].w*y[v].h<6||c.push(Jc(e,n,$,y[v],a))})});let d=t.rest>0?l[l.length-1]:null,f=Ri(e,"memmap",c);return f.style.height=`${s.height}px`,f.append(...h),d&&d.w>3&&f.append(p("span",{class:"maprest",style:is(d),title:`smaller buffers, ${k(t.rest)}`})),[f]}function is({x:e,y:t,w:s,h:n}){return{left:`${e}px`,top:`${t}px`,width:`${Math.max(0,s-1)}px`,height:`${Math.max(0,n-1)}px`}}function Jc(e,t,{group:s,count:n,bytes:i},o,r){let a=t.rows[s],l=t.kinds[a.kind],c=`${a.name}${n>1?` \xD7 ${n}`:""}`,h=rt(i/r);return p("div",{class:`mapcell mem-${a.kind}`,role:"option","data-group":s,"aria-selected":"false","aria-label":`${c}, ${l}, ${k(i)}, ${h}`,tabindex:-1,title:`${c}
${l}, ${k(i)}, ${h}`,style:is(o),onclick:()=>e.select({type:"buffer",row:s})},o.w>ns.width&&o.h>ns.height?[p("bdi",{},c),o.h>2*ns.height?p("span",{},k(i)):null]:null)}function os(e,t){let{selection:s}=e.state,n=[...t.querySelectorAll("[data-group]")],i;for(let r of n){let a=s?.type==="buffer"&&Number(r.dataset.group)===s.row;r.setAttribute("aria-selected",String(a)),r.tabIndex=-1,a&&(i=r)}let o=i??n[0];return o&&(o.tabIndex=0),i}function Zc(e,t,s){let n=[...t.querySelectorAll("[data-group]")],i=n.indexOf(s.target),o=s.key==="Enter"||s.key===" "?i:W(s,i,n.length);o===null||o<0||(s.preventDefault(),s.stopPropagation(),n[o].focus(),e.select({type:"buffer",row:Number(n[o].dataset.group)}))}var Ii=5,Qc=180,th=620,Wi=[["moment","Alive"],["map","As a map"],["all","Largest, whenever"]],eh=["help","What could help"];function Di(e){let t=p("section",{class:"mempane","aria-label":"Memory",hidden:!0}),s=null,n=()=>{if(e.state.centre==="memory"){if(s)return s.draw();if(e.memoryError||=e.first.no_memory??"",!e.memory&&!e.memoryError)return t.replaceChildren(p("p",{class:"nothing",role:"status"},"Finding what is alive\u2026")),e.openMemory(i=>new Dt(i,e));if(!e.memory)return t.replaceChildren(p("p",{class:"nothing",role:"status"},e.memoryError));s=new rs(e,t)}};return e.listen(i=>["centre","data","memory"].some(o=>i.has(o))&&n()),t}var rs=class{constructor(t,s){this.store=t,this.memory=t.memory,this.space=0,this.by="kind",this.view="moment",this.at=this.memory.spaces[0].peak,this.hover=-1,this.limit=_t,this.width=0,this.height=de.low,this.draw=Q(()=>this.paint()),this.canvas=p("canvas",{"aria-hidden":"true"}),this.curve=this.makeCurve(),this.tip=U(this.curve),this.legend=p("div",{class:"memlegend"}),this.table=p("div",{class:"memtable"}),this.back=p("button",{type:"button",class:"button",title:"Back to the peak (p)",onclick:()=>this.pin(this.peak)},"To the peak"),this.count=p("span",{class:"dim memcount"}),this.tabs=V("What the table shows",this.memory.header.suggestions.length?[...Wi,eh]:Wi,()=>this.view,n=>this.setView(n)),this.strip=this.makeStrip(),s.replaceChildren(...this.parts()),this.box=s,t.listen(n=>this.changed(n)),new ResizeObserver(()=>this.resize()).observe(s),this.follow(),this.fill()}get peak(){return this.memory.spaces[this.space].peak}parts(){let{memory:t}=this,{header:s}=t,n=this.store.first.axes,i=[p("h2",{class:"offscreen"},"Memory over the schedule"),p("p",{class:"memanswer"},A(s.answer,n)),s.fits.length?p("div",{class:"memfits"},s.fits.map(rh)):null,s.provenance.map(a=>p("p",{class:"dim small"},A(a,n)))],o=p("div",{class:"memtop"},i),r=p("div",{class:"memviews"},this.tabs.bar,this.back,this.count);return t.hasCurve?[o,p("div",{class:"membar"},this.legend,this.choices()),this.curve,...this.strip.parts,r,this.table]:[o,r,this.table]}choices(){let t=(i,o,r,a="")=>Object.assign(p("button",{type:"button",class:"button",title:a,onclick:r},i),{isOn:o}),s=["kind","scope"].map(i=>t(i,()=>this.by===i,()=>this.setBy(i),`Bands by ${i} (${i[0]})`)),n=this.memory.spaces.map((i,o)=>t(i.name,()=>this.space===o,()=>this.setSpace(o)));return this.buttons=[...s,...n],p("span",{class:"memchoices"},n.length>1?p("span",{role:"group","aria-label":"Which memory"},n):null,p("span",{role:"group","aria-label":"Bands by"},p("span",{class:"dim"},"by "),s))}makeCurve(){return p("div",{class:"memcurve",role:"slider",tabindex:0,"aria-label":"Memory over the schedule: left and right one kernel, up and down ten, page up and down a hundred, p the peak, k and s bands by kind and by scope, plus and minus zoom, 0 shows all",onkeydown:t=>this.key(t),onwheel:t=>this.strip.wheel(t),onpointermove:t=>this.point(t),onpointerleave:()=>this.leave(),onclick:t=>{let s=this.kernelAt(t);s>=0&&this.pin(s)}},this.canvas)}makeStrip(){let t=this.store.data,s=t.header.graph?.missing?null:ce(t);if(!s||s.size!==this.memory.kernels)return new as(this);let n=new Bt(this.store,s);return n.painted=this.draw,n}resize(){this.width=this.curve.clientWidth,this.height=this.box.clientHeight>=th?de.high:de.low,this.curve.style.height=`${this.height}px`,this.draw(),this.view==="map"&&this.fill()}changed(t){this.store.state.centre==="memory"&&((t.has("selection")||t.has("centre"))&&this.follow(),["theme","wide","pane","centre"].some(s=>t.has(s))&&this.draw())}follow(){let{memory:t,store:s}=this;this.lit=sh(t,s),this.life=this.lit.length&&t.hasCurve?nh(t,this.lit,this.space):null,os(s,this.table)?.scrollIntoView({block:"nearest"}),this.draw()}setBy(t){this.by=t,this.fill(),this.draw()}setSpace(t){this.space=t,this.at=this.peak,this.follow(),this.fill()}setView(t){this.view=t,this.limit=_t,this.tabs.update(),this.fill()}pin(t){this.at=Math.max(0,Math.min(this.memory.kernels-1,t)),this.limit=_t;let{from:s,span:n}=this.strip.view;(this.at<s||this.at>=s+n)&&this.strip.show(this.at-n/2,n),this.fill(),this.draw()}fill(){let{memory:t,space:s,at:n,view:i}=this,o=i==="all"?t.all(s):t.alive(s,n),r=o.reduce((m,g)=>m+g.bytes,0),a=t.hasCurve?t.total(s)[n]:r,l={memory:t,rows:o,at:t.hasCurve?n:-1,rest:i==="all"?0:a-r,by:this.by,limit:this.limit,more:()=>{this.limit+=4*_t,this.fill()}},c={width:(this.table.clientWidth||400)-20,height:Math.max(Qc,this.table.clientHeight-4)},h=i==="map"?Ni(this.store,l,c):i==="help"?[oh(t.header.suggestions)]:Pi(this.store,l);this.table.replaceChildren(...h),this.count.hidden=i==="help";let d=o.reduce((m,g)=>m+g.count,0),f=t.hasCurve?n===this.peak?"at the peak":`at kernel ${b(n)}`:"",u=this.tabs.bar.querySelector("[data-tab=moment]");u&&(u.textContent=t.hasCurve?`Alive ${f}: ${k(a)}`:"Arguments and results"),this.back.hidden=!t.hasCurve||n===this.peak,this.count.textContent=`${b(d)} values, equal ones in a row`;for(let m of this.buttons??[])m.setAttribute("aria-pressed",String(m.isOn()));t.hasCurve&&this.tell()}tell(){let{memory:t,at:s,curve:n}=this,i=t.bands(this.space,this.by);this.legend.replaceChildren(...i.map(o=>p("span",{class:o.bytes[s]?"memband":"memband dim",title:`${o.name}: ${k(o.bytes[s])} at kernel ${b(s)}`},p("i",{class:`swatch ${o.color}`}),p("bdi",{},o.name),o.bytes[s]?p("span",{class:"dim"},` ${k(o.bytes[s])}`):null))),n.setAttribute("aria-valuemin","0"),n.setAttribute("aria-valuemax",String(t.kernels-1)),n.setAttribute("aria-valuenow",String(s)),n.setAttribute("aria-valuetext",this.lines(s).join("; "))}lines(t){let{memory:s,space:n,store:i}=this,o=s.total(n)[t],r=i.data?.has("graph.kernel.names")?i.data.strings("graph.kernel.names"):null,a=r&&t<r.length?`, ${r.at(t)}`:"",l=s.alive(n,t),c=l.slice(0,Ii).map(({group:d,count:f,bytes:u})=>`${k(u)}  ${s.rows[d].name}${f>1?` \xD7 ${f}`:""}`),h=o-l.slice(0,Ii).reduce((d,f)=>d+f.bytes,0);return[`${k(o)} alive`,`kernel ${b(t)} of ${b(s.kernels)}${a}`,...c,...h>0?[`${k(h)}  all else`]:[]]}paint(){if(!this.memory.hasCurve||(this.width||=this.curve.clientWidth,!this.width))return;let t=globalThis.devicePixelRatio||1;this.canvas.width=this.width*t,this.canvas.height=this.height*t,Object.assign(this.canvas.style,{width:`${this.width}px`,height:`${this.height}px`});let s=this.canvas.getContext("2d");if(!s)return;s.scale(t,t);let n=getComputedStyle(this.canvas);Li(s,{scale:this.scale(),height:this.height,total:this.memory.total(this.space),bands:this.memory.bands(this.space,this.by),color:i=>n.getPropertyValue(`--${i}`).trim()||"#888",life:this.life??null,peak:this.peak,at:this.at,hover:this.hover,limit:this.space?null:ih(this.memory.header.fits)})}scale(){return this.strip.width||=this.width,this.strip.scale()}kernelAt(t){let{left:s,width:n,from:i,span:o}=this.scale(),r=i+(t.clientX-this.curve.getBoundingClientRect().left-s)/n*o,a=Math.floor(r);return r<i||r>i+o||a<0||a>=this.memory.kernels?-1:a}point(t){let s=this.kernelAt(t);s!==this.hover&&(this.hover=s,this.draw()),s<0?this.tip.hide():this.tip.show(this.lines(s),t.clientX,t.clientY)}leave(){this.hover=-1,this.tip.hide(),this.draw()}key(t){if(t.ctrlKey||t.metaKey||t.altKey)return;let{at:s}=this,n={ArrowRight:s+1,ArrowLeft:s-1,ArrowUp:s+10,ArrowDown:s-10,PageUp:s+100,PageDown:s-100,Home:0,End:this.memory.kernels-1,p:this.peak},i={k:()=>this.setBy("kind"),s:()=>this.setBy("scope"),"+":()=>this.strip.zoom(.5,s),"=":()=>this.strip.zoom(.5,s),"-":()=>this.strip.zoom(2,s),0:()=>this.strip.show(0,this.memory.kernels)},o=n[t.key];o===void 0&&!i[t.key]||(t.preventDefault(),t.stopPropagation(),o===void 0?i[t.key]():this.pin(o))}},as=class{constructor(t){this.owner=t,this.view={from:0,span:Math.max(1,t.memory.kernels)},this.width=0,this.parts=[]}scale(){return{left:66,width:Math.max(1,this.owner.width-76),...this.view,gap:0}}show(){}zoom(){}wheel(){}};function sh(e,t){let{selection:s}=t.state;return!s||s.type==="line"?[]:s.type==="buffer"?[s.row]:e.rows.flatMap((n,i)=>n.own?.type===s.type&&n.own.row===s.row?[i]:[])}function nh(e,t,s){let n=new Set(t);return e.sum(s,i=>n.has(e.groupOf[i]))}function ih(e){let t=e.find(s=>s.is_own);return t?{bytes:t.has,words:`${t.chip}: ${k(t.has)}`}:null}function oh(e){return p("ul",{class:"memhelp"},e.map(t=>p("li",{},t)))}function rh(e){let t=Math.min(1,e.needed/e.has),s=e.fits===!1?"does not fit":e.fits?"fits":"may fit";return p("span",{class:`memfit ${e.fits===!1?"over":""} ${e.how==="counted"?"":"hatched"}`,title:e.sentence},p("span",{class:"track"},p("span",{class:"fill",style:{width:`${100*t}%`}})),p("span",{},p("b",{},s),` ${e.words}, ${e.how}`))}function ls(e){return e.map((t,s)=>s).filter(t=>e[t]>1).slice(0,4)}function cs(e,t=ls(e)){let s=e.reduce((g,x)=>g*x,1),n=e.map((g,x)=>e.slice(x+1).reduce((w,y)=>w*y,1)),i=e.map((g,x)=>x).filter(g=>e[g]>1&&!t.includes(g)),[o,r]=Fi(t),a=0;t.length===1&&e[t[0]]>16&&(a=Math.ceil(Math.sqrt(e[t[0]]*2)));let l=g=>g.reduce((x,w)=>x*e[w],1),c=a||l(r),h=a?Math.ceil(e[t[0]]/a):l(o),d=new Int32Array(s),f=(g,x)=>x.reduce((w,y)=>w*e[y]+Math.floor(g/n[y])%e[y],0);for(let g=0;g<s;g++)i.some(x=>Math.floor(g/n[x])%e[x])?d[g]=-1:a?d[g]=f(g,t):d[g]=f(g,o)*c+f(g,r);let u=r.length>1?[e[r[r.length-1]]]:[],m=o.length>1?[e[o[o.length-1]]]:[];return{shown:t,folded:i,columns:c,rows:h,gapX:u,gapY:m,cellOf:d,sizes:e}}function Fi(e){let t=e.filter((n,i)=>(e.length-i)%2===0),s=e.filter((n,i)=>(e.length-i)%2===1);return[t,s]}function hs(e){return Fi(e.shown)}var bt=14,ps="10.5px system-ui, sans-serif";function qi(e){let{first:t}=e,s=new ds(e),n=V("What the mesh shows",[["selection","Selection"],["heat","Sent"]],()=>e.state.heat,a=>e.set({heat:a})),i=p("div",{class:"meshwords"}),o=p("div",{class:"folds"}),r=()=>{s.draw(),i.replaceChildren(...lh(e))};return ls(t.mesh.shape).length<t.mesh.shape.filter(a=>a>1).length&&o.append(...ah(e,s,r)),e.listen(a=>{a.has("heat")&&n.update(),["selection","data","heat","device","theme","pane","wide"].some(l=>a.has(l))&&r()}),new ResizeObserver(()=>s.resize()).observe(s.box),queueMicrotask(r),p("section",{class:"mesh","aria-label":"Mesh"},s.box,p("div",{class:"meshside"},n.bar,i,o))}function ah(e,t,s){let{axes:n,shape:i}=e.first.mesh;return n.map((o,r)=>{if(i[r]<2)return null;let a=p("button",{type:"button",class:"chip","aria-pressed":String(t.grid.shown.includes(r)),title:`Draw ${o}, or show its first index only`,onclick:()=>{let l=t.grid.shown.includes(r)?t.grid.shown.filter(c=>c!==r):[...t.grid.shown,r].sort((c,h)=>c-h).slice(-4);t.grid=cs(i,l),t.resize(),[...a.parentElement?.children??[]].forEach(c=>c.setAttribute("aria-pressed",String(l.includes(Number(c.dataset.axis))))),s()},"data-axis":r},`${o} ${i[r]}`);return a}).filter(Boolean)}function lh(e){let{first:t,data:s,state:n}=e,i=[];t.mesh.missing&&i.push(p("p",{class:"dim"},t.mesh.missing));let o=e.selected;return n.heat==="heat"?i.push(p("b",{},"Sent by each device, per call"),p("p",{class:"dim"},"modelled: rings; the stronger the colour, the more")):o&&n.selection?.type==="collective"&&s?i.push(p("b",{},S(o.groups_count,o.kind==="collective-permute"?"pair":"group")),p("p",{},ch(s.header.axis_sets[o.axes])),p("p",{},`${o.sent} per device and call`),p("p",{class:"dim code"},o.groups_words)):o&&n.selection?.type==="array"?i.push(p("b",{},"Slice per device"),p("p",{class:"code"},o.spec),p("p",{class:"dim"},`${o.each} per device`)):i.push(p("p",{class:"dim"},`${S(t.mesh.size,"device")}. Select a collective to see its groups, an array to see its slices.`)),n.device!==null&&s&&i.push(...hh(e,n.device)),i}function ch(e){return e.axes===null?e.words:`over ${e.words}`}function hh(e,t){let{data:s}=e;if(!s)return[];let n=s.column("mesh.ids"),i=s.column("mesh.hosts"),o=s.column("sent"),[r,a]=E(s.column("mesh.coords.ends"),t),l=[...s.column("mesh.coords").subarray(r,a)],c=[i[t]>=0?`host ${i[t]}`:"",l.length?`at (${l.join(", ")})`:"",`sends ${k(Math.round(o[t]??0))} per call (modelled)`];return[p("p",{class:"device"},p("b",{},`device ${n[t]}`),`: ${c.filter(Boolean).join(", ")}`)]}function Hi(e,t,s){if(e.measureText(t).width<=s)return t;let n=t.length-1;for(;n>1&&e.measureText(`${t.slice(0,n)}\u2026`).width>s;)n--;return`${t.slice(0,n)}\u2026`}var ds=class{constructor(t){this.store=t,this.grid=cs(t.first.mesh.shape),this.canvas=p("canvas",{tabindex:0,role:"img","aria-label":"Mesh",onmousemove:s=>this.point(s),onmouseleave:()=>t.set({device:this.picked}),onclick:s=>this.pick(s),onkeydown:s=>this.walk(s)}),this.box=p("div",{class:"meshbox"},this.canvas),this.picked=null,this.width=this.height=0,this.draw=Q(()=>this.paint())}resize(){this.width=this.box.clientWidth,this.height=this.box.clientHeight,this.draw()}layout(){let{columns:t,rows:s,gapX:n,gapY:i}=this.grid,[o,r]=[this.leftWidth(),bt+17],a=(u,m)=>u.length?Math.ceil(m/u[0])-1:0,[l,c]=[a(n,t),a(i,s)],h=(u,m,g)=>Math.max(1,Math.min(g,u/m)),d=h(this.width-o-6-8*l,t,80),f=h(this.height-r-6-6*c,s,58);return{left:o,top:r,w:d,h:f,x:u=>o+u*d+(n.length?Math.floor(u/n[0])*8:0),y:u=>r+u*f+(i.length?Math.floor(u/i[0])*6:0)}}leftWidth(){let[t]=hs(this.grid),s=Math.max(0,...t.map(n=>(this.store.first.mesh.axes[n]??"").length));return Math.min(110,Math.max(30,s*6.2+12))}paint(){if(!this.width||!this.height)return;let t=globalThis.devicePixelRatio||1;this.canvas.width=this.width*t,this.canvas.height=this.height*t,this.canvas.style.width=`${this.width}px`,this.canvas.style.height=`${this.height}px`;let s=this.canvas.getContext("2d");if(!s)return;s.scale(t,t),s.font=ps;let n=this.colors(),i=this.layout(),o=this.what(n);this.cells(s,i,n,o),o.row&&this.store.state.heat==="selection"&&this.groups(s,i,n,o.row),this.names(s,i,n),this.canvas.setAttribute("aria-label",this.label())}label(){let{first:t,state:s}=this.store,n=t.mesh.axes.map((o,r)=>`${o} ${t.mesh.shape[r]}`).join(" by "),i=s.device===null?"":`; device ${this.store.data?.column("mesh.ids")[s.device]??s.device}`;return`Mesh of ${S(t.mesh.size,"device")} ${n}${i}. Arrow keys choose a device.`}colors(){let t=getComputedStyle(this.canvas);return s=>t.getPropertyValue(`--${s}`).trim()||"#888"}what(t){let{store:s}=this,{data:n,state:i,first:o}=s,r=i.selection?.type==="collective"?s.selected:null;if(i.heat==="heat"&&n)return this.heat(n,t);if(i.selection?.type==="array"&&n&&s.selected){let a=s.selected,l=at(n,a.sharding,a.shape);if(l)return this.slices(l,n,t,o.axes)}return{row:r,words:this.sentWords(r),fill:()=>"",shade:()=>0}}sentWords(t){if(!t)return()=>"";if(t.kind!=="collective-permute"||!this.store.data)return()=>t.sent;let{data:s}=this.store,n=s.column("groups.ends"),i=s.column("groups"),o=new Set,[r,a]=E(s.column("group_sets.ends"),t.groups);for(let l=r;l<a;l++){let[c,h]=E(n,l);h-c>1&&i[c]!==i[h-1]&&o.add(i[c])}return l=>o.has(l)?"":`
keeps`}heat(t,s){let n=t.column("sent"),i=0;for(let o of n)i=Math.max(i,o);return{row:null,words:o=>k(Math.round(n[o]??0)),fill:()=>s("select"),shade:o=>i?.08+.6*((n[o]??0)/i):0}}slices(t,s,n,i){let o=new Map;for(let h=0;h<t.devices.length;h++)o.set(t.devices[h],t.tileOf[h]);let r=s.column("mesh.ids"),a=t.tiles.reduce((h,d)=>h*d,1),l=n(O([...new Set((t.spec??[]).flat())],i));return{row:null,words:h=>o.has(r[h])?Ss(o.get(r[h]),t).join(`
`):"",fill:()=>l,shade:h=>o.has(r[h])?a===1?.2:.1+.45*o.get(r[h])/(a-1):0}}cells(t,s,n,i){let{columns:o,cellOf:r}=this.grid,a=this.store.data?.column("mesh.ids"),{device:l}=this.store.state,c=s.w<24||s.h<14,h=c?Math.min(1,s.w*.15):6;for(let d=0;d<r.length;d++){let f=r[d];if(f<0)continue;let u=s.x(f%o)+h,m=s.y(Math.floor(f/o))+h,[g,x]=[Math.max(.8,s.w-2*h),Math.max(.8,s.h-2*h)],w=i.shade(d);c?(t.globalAlpha=w||.35,t.fillStyle=w?i.fill(d):n("line"),t.fillRect(u,m,g,x),t.globalAlpha=1):this.box1(t,n,{x:u,y:m,w:g,h:x,shade:w,fill:i.fill(d),id:a?a[d]:d,words:i.words(d)}),d===l&&this.ring(t,n,u,m,g,x)}}box1(t,s,n){t.beginPath(),t.roundRect(n.x,n.y,n.w,n.h,4),t.fillStyle=s("bg"),t.fill(),n.shade&&(t.globalAlpha=n.shade,t.fillStyle=n.fill,t.fill(),t.globalAlpha=1),t.strokeStyle=s("line"),t.lineWidth=1,t.stroke(),t.fillStyle=s("text"),t.textAlign="left",t.font=`600 ${ps}`;let i=n.h>=28;if(t.fillText(String(n.id),n.x+5,n.y+(i?13:n.h/2+4)),t.font=ps,!i||!n.words)return;let o=n.h>=40&&!n.words.includes(`
`)&&t.measureText(n.words).width>n.w-8;n.words.split(o?" ":`
`).slice(0,n.h>=40?2:1).forEach((a,l)=>{let c=t.measureText(a).width<=n.w-8?a:ph(t,a,n.w-8);t.fillText(c,n.x+5,n.y+26+13*l)})}ring(t,s,n,i,o,r){t.strokeStyle=s("select"),t.lineWidth=2,t.strokeRect(n-1,i-1,o+2,r+2)}groups(t,s,n,i){let{data:o,first:r}=this.store;if(!o)return;let a=n(O(o.header.axis_sets[i.axes].axes,r.axes)),[l,c]=E(o.column("group_sets.ends"),i.groups),h=o.column("groups.ends"),d=o.column("groups"),f=s.w<24||s.h<14;for(let u=l;u<c;u++){let[m,g]=E(h,u),x=d.subarray(m,g);f?this.tint(t,s,n,a,x,u-l):i.kind==="collective-permute"?this.arrow(t,s,a,x):this.capsule(t,s,a,x)}}tint(t,s,n,i,o,r){t.fillStyle=r?i:n("select"),t.globalAlpha=r?.25+.35*(r%2):.95;for(let a of o){let l=this.grid.cellOf[a];l>=0&&t.fillRect(s.x(l%this.grid.columns),s.y(Math.floor(l/this.grid.columns)),Math.max(1,s.w-.5),Math.max(1,s.h-.5))}t.globalAlpha=1}middle(t,s){let n=this.grid.cellOf[s];return n===void 0||n<0?null:[t.x(n%this.grid.columns)+t.w/2,t.y(Math.floor(n/this.grid.columns))+t.h/2]}capsule(t,s,n,i){let o=[...i].map(m=>this.middle(s,m)).filter(m=>m!==null);if(o.length<2)return;let r=o.map(([m])=>m),a=o.map(([,m])=>m),l=Math.max(...a)-Math.min(...a)<1&&Math.max(...r)-Math.min(...r)<(s.w+8)*(o.length-1)+1,c=Math.max(...r)-Math.min(...r)<1&&Math.max(...a)-Math.min(...a)<(s.h+6)*(o.length-1)+1;if(t.strokeStyle=t.fillStyle=n,!l&&!c)return this.arcs(t,n,o);let[h,d]=[Math.min(...r)-s.w/2+2,Math.min(...a)-s.h/2+2],[f,u]=[Math.max(...r)-Math.min(...r)+s.w-4,Math.max(...a)-Math.min(...a)+s.h-4];t.beginPath(),t.roundRect(h,d,f,u,6),t.globalAlpha=.13,t.fill(),t.globalAlpha=1,t.lineWidth=1.5,t.stroke(),t.lineWidth=3,t.beginPath();for(let m=1;m<o.length;m++){let[g,x]=[o[m-1],o[m]],w=l?s.w/2-6:s.h/2-6;l?(t.moveTo(g[0]+w,g[1]),t.lineTo(x[0]-w,x[1])):(t.moveTo(g[0],g[1]+w),t.lineTo(x[0],x[1]-w))}t.stroke()}arcs(t,s,n){t.strokeStyle=s,t.lineWidth=1.6;for(let i=1;i<n.length;i++){let[[o,r],[a,l]]=[n[i-1],n[i]];t.beginPath(),t.moveTo(o,r),t.quadraticCurveTo((o+a)/2+(l-r)*.18,(r+l)/2-(a-o)*.18,a,l),t.stroke()}}arrow(t,s,n,i){let o=this.middle(s,i[0]),r=this.middle(s,i[i.length-1]);if(!o||!r||i[0]===i[i.length-1])return;let[a,l]=[r[0]-o[0],r[1]-o[1]],c=Math.hypot(a,l)||1,[h,d]=[a/c,l/c],f=c>s.w*1.6?10:4,u=[o[0]+h*14-d*5,o[1]+d*10+h*5],m=[r[0]-h*14-d*5,r[1]-d*10+h*5];t.strokeStyle=t.fillStyle=n,t.lineWidth=1.6,t.beginPath(),t.moveTo(u[0],u[1]),t.quadraticCurveTo((u[0]+m[0])/2-d*f,(u[1]+m[1])/2+h*f,m[0],m[1]),t.stroke(),t.beginPath(),t.moveTo(m[0],m[1]),t.lineTo(m[0]-h*7-d*3.5,m[1]-d*7+h*3.5),t.lineTo(m[0]-h*7+d*3.5,m[1]-d*7-h*3.5),t.fill()}names(t,s,n){let{axes:i}=this.store.first.mesh;if(!i.length)return;let[o,r]=hs(this.grid),{columns:a,rows:l,gapX:c,gapY:h}=this.grid,d=g=>n(O([i[g]],this.store.first.axes));if(r.length){let g=r[r.length-1];if(t.textAlign="center",t.fillStyle=d(g),this.numbers(t,a,c[0]??a,s.w,22,x=>[s.x(x)+s.w/2,bt+11]),this.named(t,i[g],s.left,bt-3),r.length>1){let x=c[0],w=i[r[0]],y=s.left+t.measureText(i[g]).width+14;t.fillStyle=d(r[0]);let $=this.named(t,w,y,bt-3);t.textAlign="center",this.numbers(t,a/x,1/0,x*s.w+8,22,v=>{let j=s.x(v*x)+x*s.w/2;return j-10<$?null:[j,bt-3]})}}if(!o.length)return;let f=s.h>=11||o.length<2,u=o[f?o.length-1:0],m=f?1:h[0];t.fillStyle=d(u),t.textAlign="right",this.numbers(t,l/m,f?h[0]??l:1/0,m*s.h,13,g=>[s.left-5,s.y(g*m)+m*s.h/2+4]),t.fillText(Hi(t,i[u],s.left-8),s.left-5,bt+11)}named(t,s,n,i){t.textAlign="left";let o=Hi(t,s,this.width-n-4);return t.fillText(o,n,i),t.textAlign="center",n+t.measureText(o).width+8}numbers(t,s,n,i,o,r){let a=Math.max(1,Math.ceil(o/i));if(!(a>1&&n<s&&n<2*a))for(let l=0;l<s;l++){if(l%n%a)continue;let c=r(l);c&&t.fillText(String(l%n),...c)}}position(t){let s=this.canvas.getBoundingClientRect(),n=this.layout(),[i,o]=[t.clientX-s.left,t.clientY-s.top],r=(h,d,f,u)=>{for(let m=0;m<f;m++)if(u>=h(m)&&u<h(m)+d)return m;return-1},[a,l]=[r(n.x,n.w,this.grid.columns,i),r(n.y,n.h,this.grid.rows,o)];if(a<0||l<0)return null;let c=this.grid.cellOf.indexOf(l*this.grid.columns+a);return c<0?null:c}point(t){this.store.set({device:this.position(t)??this.picked})}pick(t){let s=this.position(t);this.picked=s===this.picked?null:s,this.store.set({device:this.picked})}walk(t){let s=this.grid.cellOf.length,{columns:n}=this.grid,i={ArrowDown:n,ArrowUp:-n},o=this.store.state.device??-1,r=o<0?-1:this.grid.cellOf[o],a=t.key in i?this.grid.cellOf.indexOf(Math.max(0,r)+i[t.key]):W(t,o,s);if(t.key==="Escape")this.picked=null;else{if(a===null||a<0)return;this.picked=a}t.preventDefault(),this.store.set({device:this.picked})}};function ph(e,t,s){let n=t;for(;n.length>1&&e.measureText(`${n}\u2026`).width>s;)n=n.slice(0,-1);return`${n}\u2026`}var ot=16,fe=[["source","Source"],["jaxpr","jaxpr"],["stablehlo","StableHLO"],["hlo","HLO"]];function Ui(e){let t=fe.map(([h,d])=>p("button",{type:"button",class:"chip","data-text":h,onclick:()=>dh(e,h)},d)),s=p("span",{class:"dim hits",role:"status"}),n=p("input",{type:"search",class:"filter textsearch",placeholder:"Find in the texts","aria-label":"Find in the texts",title:"Enter: the next line, Shift Enter: the one before",oninput:()=>i(0),onkeydown:h=>h.key==="Enter"&&i(h.shiftKey?-1:1)}),i=h=>{let d=a.map(f=>f.find(n.value,h));s.textContent=n.value?S(d.reduce((f,u)=>f+u,0),"line"):""},o=p("div",{class:"textbar",role:"group","aria-label":"Which texts"},n,s,t),r=p("div",{class:"texts"}),a=[],l=()=>{let{shown:h}=e.state;t.forEach(d=>d.setAttribute("aria-pressed",String(h.includes(d.dataset.text??"")))),a=e.data?fe.filter(([d])=>h.includes(d)).map(([d,f])=>new fs(e,d,f)):[],r.replaceChildren(...a.length?a.map(d=>d.box):[p("p",{class:"nothing"},e.data?"Choose a text above.":"")]),c()},c=()=>{let h=a.map(d=>d.hold);requestAnimationFrame(()=>{a.forEach((d,f)=>h[f]||d.follow()),a.forEach(d=>d.draw())})};return e.listen(h=>{h.has("data")||h.has("shown")||h.has("files")?l():["selection","pane","centre"].some(d=>h.has(d))?c():(h.has("hoverSpot")||h.has("wide"))&&a.forEach(d=>d.draw()),h.has("wide")&&e.set({shown:e.state.wide?fe.map(([d])=>d):["source","hlo"]})}),l(),{bar:o,box:r}}function dh(e,t){let s=e.state.shown.includes(t);e.set({shown:fe.map(([n])=>n).filter(n=>n===t?!s:e.state.shown.includes(n))})}var fs=class{constructor(t,s,n){this.store=t,this.kind=s,this.hold=!1,this.found=[],this.at=-1,this.first=this.last=-1,this.rows=[];let i=t.data;this.key=s==="source"?`source${t.state.files}`:s;let o=i.header.texts[this.key];this.lines=i.strings(`${this.key}.lines`),this.numbers=i.column(`${this.key}.numbers`),this.spots=i.column(`${this.key}.spots`),this.phases=i.column(`${this.key}.phases`),this.entities=i.column(`${this.key}.entities`);let r=o?.total??this.lines.length,a=this.lines.length<r?`${b(this.lines.length)} of ${S(r,"line")}`:S(r,"line");this.view=p("div",{class:"window"}),this.space=p("div",{class:"space",style:{height:`${this.lines.length*ot+4}px`,"min-width":`calc(${Math.min(500,this.lines.longest())+8} * 1ch)`}},this.view),this.scroll=p("div",{class:"scroll",tabindex:0,role:"region","aria-label":n,onscroll:()=>this.draw()},this.space);let l=p("div",{class:"texthead"},p("b",{},n),s==="source"?this.files(i):p("span",{class:"dim",title:"Lines are numbered as in the whole text"},o?a:""),o?.how?p("span",{class:"dim guess",tabindex:0,role:"note",title:o.how,"aria-label":o.how},"matched by order"):null,o?.note?p("span",{class:"dim left",title:o.note},o.note):null);this.box=p("div",{class:o?"textpane":"textpane missing"},l,o?this.scroll:p("p",{class:"nothing"},i.header.missing[this.key]??"There is no such text.")),new ResizeObserver(()=>this.draw()).observe(this.scroll)}files(t){let s=Object.keys(t.header.texts).filter(i=>i.startsWith("source"));if(s.length<2)return p("span",{class:"dim code"},t.header.texts.source0?.name??"");let n=p("select",{"aria-label":"File",onchange:()=>this.store.set({files:Number(n.value)})},s.map((i,o)=>p("option",{value:o},t.header.texts[i].name)));return n.value=String(this.store.state.files),n}state(t,s){let{entity:n,spots:i,hover:o,strong:r}=s;if(n>=0&&this.entities[t]===n)return"is";let a=this.spots[t];return a<0?"":i.has(a)&&(s.phases===null||this.kind==="source"||this.phases[t]===0||s.phases.has(this.phases[t]))?this.kind==="source"||r?"is":"of":a===o?"hover":""}marks(){let{hoverSpot:t}=this.store.state,{listed:s}=this.store,n=s?.type==="collective"?2*s.row:s?.type==="kernel"?2*s.row+1:-1,i=s?.type==="collective"?this.store.data?.header.phases.indexOf(this.store.selected?.phase??"")??0:0;return{entity:n,spots:this.store.spots(),phases:i>0?new Set([i]):null,hover:t,strong:!1}}draw(){let t=this.scroll.scrollTop,s=this.scroll.clientHeight;if(!s)return;let n=Math.max(0,Math.floor(t/ot)-4),i=Math.min(this.lines.length,Math.ceil((t+s)/ot)+4),o=this.marks();if(n===this.first&&i===this.last){this.rows.forEach((a,l)=>{a.className!==this.style(n+l,o)&&(a.className=this.style(n+l,o))});return}let r=[];for(let a=n;a<i;a++)r.push(this.line(a,o));[this.first,this.last,this.rows]=[n,i,r],this.view.style.transform=`translateY(${n*ot}px)`,this.view.replaceChildren(...r)}isLinked(t){return this.spots[t]>=0||this.entities[t]>=0}find(t,s){let n=t.toLowerCase();if(!s){this.found=[];for(let o=0;n&&o<this.lines.length;o++)this.lines.at(o).toLowerCase().includes(n)&&this.found.push(o)}let i=this.found.length;return this.at=i?s?(Math.max(0,this.found.indexOf(this.at))+s+i)%i:0:-1,this.at=this.at<0?-1:this.found[this.at],this.at>=0&&(this.scroll.scrollTop=Math.max(0,(this.at-4)*ot)),this.draw(),i}style(t,s){return`ln ${this.state(t,s)}${this.isLinked(t)?" linked":""}${t===this.at?" hit":""}`}line(t,s){let n=this.spots[t],i=this.isLinked(t);return p("div",{class:this.style(t,s),onclick:i?()=>this.click(t):void 0,onmouseenter:n>=0?()=>this.store.set({hoverSpot:n}):void 0},p("span",{class:"no"},String(this.numbers[t])),p("bdi",{},this.lines.at(t)))}click(t){let s=this.entities[t];this.hold=!0,s>=0?this.store.select({type:s%2?"kernel":"collective",row:s>>1}):this.store.select({type:"line",row:this.spots[t]}),this.hold=!1}follow(){let t=this.marks();(t.entity>=0||t.spots.size)&&this.reveal(t)}reveal(t){let s=this.scroll.scrollTop/ot,n=s+this.scroll.clientHeight/ot-1;for(let o=Math.max(0,Math.ceil(s));o<Math.min(n,this.lines.length);o++)if(this.state(o,t)==="is")return;let i=this.firstOf(t);i>=0?this.scroll.scrollTop=Math.max(0,(i-4)*ot):this.kind==="source"&&this.otherFile(t)}firstOf(t){let s=t.entity<0?-1:this.entities.indexOf(t.entity);if(s>=0)return s;let n=this.lines.length;for(let i of t.spots)for(let o=this.spots.indexOf(i);o>=0&&o<n;o=this.spots.indexOf(i,o+1))this.state(o,t)&&(n=o);return n<this.lines.length?n:-1}otherFile(t){let{data:s}=this.store,n=[...t.spots][0];if(!s||n===void 0)return;let i=s.column("spot_files")[n];i!==this.store.state.files&&`source${i}`in s.header.texts&&queueMicrotask(()=>this.store.set({files:i}))}};var Ki="Sent per device and call, by mesh axis",fh=["axes","list","text","kind","cause","note"];function Xi(e){let{first:t}=e,s=t.totals.map(i=>{let o=t.axis_sets[i.axes],r=`payload ${i.payload} (counted), sent ${i.sent} (modelled, ring)`,a=p("button",{type:"button",class:`total ${O(o.axes,t.axes)}`,"aria-pressed":"false",title:`${o.words}: ${r}; ${i.number}`,onclick:()=>e.set({list:"collectives",axes:e.state.axes===i.axes?null:i.axes})},p("span",{class:"axisname"},o.words),p("span",{class:"track"},p("span",{class:"fill",style:{width:`${Math.max(.8,100*i.share)}%`}})),p("span",{class:"figure"},i.sent),p("span",{class:"count"},i.number));return{total:i,button:a}}),n=p("h2",{class:"minor","aria-live":"polite"},Ki);return e.listen(i=>fh.some(o=>i.has(o))&&uh(e,n,s)),p("section",{class:"totals","aria-label":"Sent per device and call, by mesh axis"},n,s.length?s.map(i=>i.button):p("p",{class:"dim"},t.unsent??"Nothing is sent."),t.memory.length?p("p",{class:"memory dim"},A(t.memory,t.axes)):null,t.measured?p("p",{class:"memory dim"},t.measured):null)}function uh(e,t,s){let{state:n,first:i}=e,{sums:o,number:r}=Fs(e.rows("collectives"),n.list==="collectives"?n:{...n,...D,list:"collectives"},i),a=n.list==="collectives"&&ut({...n,axes:null});t.textContent=a?`Sent per device and call, ${b(r)} of ${b(i.counts[0])} collectives`:Ki;for(let{total:l,button:c}of s){let[h,d]=o.get(l.axes)??[0,0],f=l.sent_bytes?h/l.sent_bytes:0;c.setAttribute("aria-pressed",String(n.axes===l.axes)),c.classList.toggle("faded",n.axes!==null&&n.axes!==l.axes);let[u,m,g]=[".fill",".figure",".count"].map(x=>c.querySelector(x));u.style.width=a?`${100*l.share*f}%`:`${Math.max(.8,100*l.share)}%`,u.style.minWidth=a&&!h?"0":"",m.textContent=a?k(Math.round(h)):l.sent,g.textContent=a?S(d,"collective"):l.number}}var mh=256,dt=16,gh=[.25,.5,.75,1],Gi=e=>.1+.9*Math.sqrt(e);function Vi(e){let t=p("canvas",{role:"img",tabindex:0,"aria-label":"Traffic between devices",onmousemove:c=>l(c),onmouseleave:()=>{s.textContent=""}}),s=p("p",{class:"tip","aria-live":"polite"}),n=p("div",{class:"scale"}),i=p("div",{class:"busiest"}),o=p("div",{class:"traffic"},p("div",{class:"matrix"},t,n,s),i),r=null,a=()=>{let{data:c}=e;c&&(r??=wh(e),bh(t,r,o),!i.childElementCount&&(i.append(...vh(e)),n.append(...yh(r))))},l=c=>{if(!r)return;let h=t.getBoundingClientRect(),{count:d,per:f}=r,u=Yi(r),m=Math.floor((c.clientY-h.top-dt)/(h.height-dt)*d),g=Math.floor((c.clientX-h.left-u)/(h.width-u)*d);if(m<0||g<0||m>=d||g>=d)return;let[x,w]=[m,g].map($=>xh(e,$,f)),y=k(Math.round(r.cells[m*d+g]));s.textContent=`${x} sends ${w} ${y} per call (modelled)`};return e.listen(c=>{["data","centre","pane","theme"].some(h=>c.has(h))&&e.state.centre==="traffic"&&requestAnimationFrame(a)}),new ResizeObserver(()=>e.state.centre==="traffic"&&a()).observe(o),o}function xh(e,t,s){let n=e.data?.column("mesh.ids")??[];return s===1?`device ${n[t]}`:`positions ${b(t*s)}\u2013${b((t+1)*s-1)}`}function wh(e){let t=e.data,s=e.first.mesh.size||1,n=Math.ceil(s/mh),i=Math.ceil(s/n),o=new Float64Array(i*i),[r,a,l]=["traffic.sources","traffic.targets","traffic.bytes"].map(c=>t.column(c));for(let c=0;c<r.length;c++)o[Math.floor(r[c]/n)*i+Math.floor(a[c]/n)]+=l[c];return{cells:o,count:i,per:n}}function bh(e,t,s){let n=Yi(t),i=Math.max(120,Math.min(s.clientWidth-40,s.clientHeight-96,34*t.count+n,460)),o=globalThis.devicePixelRatio||1;e.width=e.height=i*o,e.style.width=e.style.height=`${i}px`;let r=e.getContext("2d");if(!r)return;r.scale(o,o);let a=getComputedStyle(e),l=u=>a.getPropertyValue(`--${u}`).trim(),[c,h]=[(i-n)/t.count,(i-dt)/t.count],d=0;for(let u of t.cells)d=Math.max(d,u);r.fillStyle=l("panel"),r.fillRect(n,dt,i-n,i-dt),r.fillStyle=l("select");for(let u=0;u<t.cells.length;u++)t.cells[u]&&(r.globalAlpha=Gi(t.cells[u]/d),r.fillRect(n+u%t.count*c,dt+Math.floor(u/t.count)*h,Math.max(.7,c-(c>6?1:0)),Math.max(.7,h-(h>6?1:0))));r.globalAlpha=1,r.fillStyle=l("dim"),r.font="10px system-ui, sans-serif";let f=Math.max(1,Math.ceil((12+6*String(t.count*t.per).length)/c));for(let u=0;u<t.count;u+=f){let m=r.measureText(String(u*t.per)).width/2;r.textAlign="center",n+(u+.5)*c+m<=i&&r.fillText(String(u*t.per),n+(u+.5)*c,11),r.textAlign="right",r.fillText(String(u*t.per),n-4,dt+(u+.5)*h+3)}e.setAttribute("aria-label",`Traffic between ${t.count} places of the mesh; the busiest links stand in the table`)}var Yi=e=>10+6.5*String(e.count*e.per).length;function yh(e){let t=0;for(let s of e.cells)t=Math.max(t,s);return t?[p("span",{},e.per>1?`sent per call between ${e.per} and ${e.per} devices:`:"sent per call:"),...gh.map(s=>{let n=s*s;return p("span",{},p("i",{class:"shade",style:{opacity:Gi(n)}}),k(Math.round(n*t)))})]:[]}function vh(e){let t=e.data,[s,n,i]=["traffic.sources","traffic.targets","traffic.bytes"].map(c=>t.column(c)),o=t.column("mesh.ids");if(!s.length)return[p("p",{class:"nothing"},t.header.missing.hlo??"No device sends anything.")];let a=Array.from(i.keys()).sort((c,h)=>i[h]-i[c]).slice(0,24).map(c=>p("tr",{},p("td",{},`${o[s[c]]} \u2192 ${o[n[c]]}`),p("td",{class:"figure"},k(Math.round(i[c]))))),l=t.header.traffic_left_out;return[p("h2",{class:"minor"},"Busiest links, per call"),p("table",{class:"numbers"},a),p("p",{class:"dim small"},"Rows send, columns receive; numbers are positions in the mesh. Modelled: rings send to the next device of the group, an all-to-all an equal part to each; permutes are counted."),l?p("p",{class:"dim small"},`${b(l)} collectives are not in it: their groups are unknown or too many.`):""]}var us=640,kh=1100,Zi=1400,$h=236,Ji=[["centre","Overview"],["list","List"],["details","Details"],["mesh","Mesh"]];function ms(e,t){let s=new qt(t);e.classList.add("pjit-inspector"),e.setAttribute("data-lm-suppress-shortcuts","true"),s.isNarrow=()=>e.clientWidth<=us;let n=p("p",{class:"offscreen","aria-live":"polite"}),i=V("Panes",Ji,()=>s.state.pane,h=>s.set({pane:h}));i.bar.classList.add("panes");let o=p("div",{class:"meshtab"}),r=[Xi(s),qi(s)],a=Sh(s,o),l=p("div",{class:t.counts[0]?"frame":"frame quiet"},yi(s),i.bar,Mi(s),a,_s(s),r,n);e.replaceChildren(l),new ResizeObserver(()=>{let d=e.clientWidth>us&&e.clientWidth<=Zi?o:l;r[0].parentNode!==d&&d.append(...r)}).observe(e);let c=()=>{l.classList.toggle("wide",s.state.wide);for(let[h]of Ji)l.classList.toggle(`pane-${h}`,s.state.pane===h)};return c(),s.listen(h=>{(h.has("pane")||h.has("wide"))&&c(),h.has("pane")&&i.update(),h.has("selection")&&(n.textContent=Mh(s)),h.has("data")&&!s.state.selection&&s.select(jh(s),!0)}),e.addEventListener("keydown",h=>Oh(s,e,h)),s}function Qi(e,t){let s=l=>e.querySelector(l),{height:n}=t.graphNeed(),i=(s(".centrebar")?.offsetHeight??0)+n,o=s(".details")?.scrollHeight??0,r=s(".top")?.offsetHeight??0,a=e.clientWidth;return a<=us?r+(s(".panes")?.offsetHeight??0)+i+Math.min(o,$h):a<=kh?r+Math.max(i,5/3*Math.min(o,340)):r+Math.max(i+(a>Zi?s(".mesh")?.offsetHeight??0:0),o)}function jh(e){let t=i=>Mt(e.rows(i),{...e.state,list:i},e.first)[0]?.[1],s=t("collectives");if(s!==void 0)return{type:"collective",row:s};let n=e.first.measured?t("kernels"):void 0;return n!==void 0?{type:"kernel",row:n}:e.rows("arrays").length?{type:"array",row:0}:null}function Mh(e){let t=e.selected;return t?[t.kind??t.role,t.what??t.name,t.sent??t.all??t.traffic].join(", "):e.selectionName()}function Sh(e,t){let{bar:s,box:n}=Ui(e),i={graph:mi(e,Ei(e)),memory:Di(e),text:n,mesh:t,traffic:Vi(e)},o=V("What the middle shows",[["graph","Graph"],...e.first.has_memory?[["memory","Memory"]]:[],["text","Linked text"],["mesh","Mesh"],["traffic","Traffic"]],()=>e.state.centre,l=>e.set({centre:l})),r=p("section",{class:"centre","aria-label":"Program"},p("div",{class:"centrebar"},o.bar,s),Object.values(i)),a=()=>{o.update();let l=e.state.centre==="mesh"&&!t.childElementCount?"graph":e.state.centre;for(let[c,h]of Object.entries(i))h.hidden=c!==l;s.hidden=e.state.centre!=="text"};return e.listen(l=>l.has("centre")&&a()),new MutationObserver(a).observe(t,{childList:!0}),a(),r}function Oh(e,t,s){let n=s.target;if(s.stopPropagation(),s.key==="Escape"){ut(e.state)?e.set(D):e.select(null);return}if(s.ctrlKey||s.metaKey||s.altKey||n.matches("input, select, textarea"))return;let o={"/":()=>{e.set({pane:"list"}),t.querySelector(".filter")?.focus()},t:()=>e.set({centre:"text",pane:"centre"}),a:()=>e.first.has_memory&&e.set({centre:"memory",pane:"centre"}),g:()=>e.set({centre:"graph",pane:"centre"}),m:()=>e.set({centre:"traffic",pane:"centre"}),w:()=>e.set({wide:!e.state.wide}),c:()=>G(e,t.querySelector(".buttons .button"))}[s.key];o&&(s.preventDefault(),o())}var to="pjit_inspect.height",eo=400,so=1600,no=24,Ah=720,Th=800,gs=0;function io(e){return{remembered:()=>{try{return Number(localStorage.getItem(to))||gs}catch{return gs}},set:(t,s)=>{if(e.style.setProperty("--pjit-height",`${t}px`),!!s){gs=t;try{localStorage.setItem(to,String(t))}catch{}}}}}function oo(e){let t=n=>parent.postMessage({pjitInspect:n},"*"),s=n=>{let i=n.source===parent?n.data?.pjitInspect?.remembered:void 0;typeof i=="number"&&(removeEventListener("message",s),e({remembered:()=>i,set:(o,r)=>t({height:o,isChosen:r})}))};addEventListener("message",s),t({isOpen:!0})}function ro(e,{need:t,isTall:s},n){let i=h=>Math.round(Math.max(eo,Math.min(so,h))),o=n.remembered()||(s()?Th:Ah),r=h=>{n.set(i(h),!0),a.setAttribute("aria-valuenow",String(i(h)))},a=p("div",{class:"heightbar",role:"separator","aria-orientation":"horizontal","aria-label":"Height of the inspector","aria-valuemin":eo,"aria-valuemax":so,title:"Drag to make it higher or lower (\u2191 \u2193)",tabindex:0,onkeydown:h=>{let d={ArrowDown:no,ArrowUp:-no}[h.key];d&&(h.preventDefault(),h.stopPropagation(),r(e.offsetHeight+d))}}),l=0;a.addEventListener("pointerdown",h=>{l=e.offsetHeight-h.screenY,a.setPointerCapture(h.pointerId),h.preventDefault()}),a.addEventListener("pointermove",h=>{a.hasPointerCapture(h.pointerId)&&r(l+h.screenY)}),e.classList.add("dragged"),e.append(a);let c=i(Math.min(t()+a.offsetHeight,o));a.setAttribute("aria-valuenow",String(c)),n.set(c,!1)}function ao(e){let t=["graph","text","mesh","traffic",...e.first.has_memory?["memory"]:[]],s=()=>{let o=new URLSearchParams(location.hash.slice(1)),r={};t.includes(o.get("view")??"")&&(r.centre=o.get("view")),["collectives","arrays","kernels"].includes(o.get("list")??"")&&(r.list=o.get("list")),["list","details","centre","mesh"].includes(o.get("pane")??"")&&(r.pane=o.get("pane")),o.has("wide")&&(r.wide=!0),o.has("theme")&&(document.documentElement.dataset.theme=o.get("theme")??""),e.set(r);let a=o.get("sel");a&&a!==e.selectionName()&&e.set({stale:e.selectName(a)?"":a})};s(),addEventListener("hashchange",s);let n=()=>{let o=new URLSearchParams(location.hash.slice(1));e.state.stale||o.set("sel",e.selectionName()),o.set("view",e.state.centre),e.state.wide?o.set("wide",""):o.delete("wide");try{history.replaceState(null,"",`#${o}`)}catch{}},i=0;e.listen(o=>{["selection","centre","wide"].some(r=>o.has(r))&&(clearTimeout(i),i=setTimeout(n,120))})}var lo=`.pjit-inspector .boxpane {
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
  margin: 0;
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
.flow .beside {
  font: 10px var(--code);
  fill: var(--dim);
}
.flow .axisname {
  fill: var(--c);
  font-weight: 600;
}
.flow .mini rect {
  fill: color-mix(in srgb, var(--c) 26%, var(--bg));
  stroke: var(--c);
}
.flow .mini.whole rect {
  fill: var(--panel);
  stroke: var(--line);
}
.flow .mini path {
  fill: none;
  stroke: var(--c);
}
`;var co=`.pjit-inspector .findings {
  display: grid;
  grid-template-columns: minmax(0, 2fr) minmax(0, 3fr);
  border: 1px solid var(--rule);
  border-radius: 4px;
  margin-top: 2px;
  min-width: 0;
}
.pjit-inspector .findings.none {
  display: block;
  border: 0;
  margin: 0;
}
.pjit-inspector .findings > .quiet {
  grid-column: 1 / -1;
  font-size: 11px;
  padding: 1px 10px;
  border-top: 1px solid var(--rule);
}
.pjit-inspector .findings.none > .quiet {
  border: 0;
  padding: 0;
}
.pjit-inspector .waits::before {
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
.pjit-inspector .findinglist {
  list-style: none;
  margin: 0;
  padding: 0;
  min-width: 0;
  border-right: 1px solid var(--rule);
}
.pjit-inspector .findinglist li + li {
  border-top: 1px solid var(--rule);
}
.pjit-inspector .finding {
  display: grid;
  grid-template-columns: 22px minmax(0, 1fr);
  width: 100%;
  padding: 3px 8px 4px 7px;
  border: 0;
  border-left: 3px solid transparent;
  background: none;
  text-align: left;
  cursor: pointer;
}
.pjit-inspector .finding:hover {
  background: var(--hover);
}
.pjit-inspector .finding[aria-pressed="true"] {
  border-left-color: var(--select);
}
.pjit-inspector .findingnumber {
  grid-row: span 2;
  align-self: center;
  width: 17px;
  height: 17px;
  line-height: 16px;
  border: 1px solid var(--line);
  border-radius: 50%;
  text-align: center;
  font-size: 11px;
  font-weight: 600;
}
.pjit-inspector .finding[aria-pressed="true"] .findingnumber {
  background: var(--text);
  border-color: var(--text);
  color: var(--bg);
}
.pjit-inspector .findingwords,
.pjit-inspector .findingfigures {
  overflow: hidden;
  text-overflow: ellipsis;
  white-space: nowrap;
}
.pjit-inspector .findingfigures {
  font-size: 11px;
}
.pjit-inspector .findingstrip {
  padding: 4px 10px 5px;
  min-width: 0;
  display: grid;
  gap: 3px;
  align-content: start;
}
.pjit-inspector .findingfull {
  overflow-wrap: anywhere;
}
.pjit-inspector .remedy {
  display: flex;
  gap: 8px;
  align-items: start;
  justify-content: space-between;
}
.pjit-inspector .remedy code {
  background: var(--panel);
  border-radius: 3px;
  padding: 1px 3px;
}
.pjit-inspector .remedy .button {
  flex: none;
}
.pjit-inspector .findingbars {
  border-spacing: 0;
  width: min(100%, 420px);
  font-size: 11px;
  line-height: 14px;
}
.pjit-inspector .findingbars th {
  font-weight: 400;
  text-align: left;
  width: 52px;
  padding: 0;
  color: var(--dim);
}
.pjit-inspector .findingbars td {
  padding: 0;
}
.pjit-inspector .findingbars .fill {
  display: block;
  height: 8px;
  min-width: 2px;
  background: var(--line);
}
.pjit-inspector .findingbars tr + tr .fill {
  background: var(--select);
}
.pjit-inspector .findingbars .figure {
  width: 72px;
  text-align: right;
}
.pjit-inspector .refused {
  color: var(--note);
  overflow-wrap: anywhere;
}
.pjit-inspector .suggestion .button,
.pjit-inspector .details > .button {
  justify-self: start;
  align-self: start;
}
.pjit-inspector .sidebyside {
  border-spacing: 0;
}
.pjit-inspector .sidebyside th,
.pjit-inspector .sidebyside td {
  text-align: right;
  padding: 0 14px 0 0;
}
.pjit-inspector .sidebyside th {
  font-weight: 400;
  font-size: 11px;
  color: var(--dim);
}
@container (max-width: 980px) {
  .pjit-inspector .findings {
    grid-template-columns: minmax(0, 1fr);
  }
  .pjit-inspector .findinglist {
    border-right: 0;
    border-bottom: 1px solid var(--rule);
  }
  .pjit-inspector .findinglist:has(> li:only-child) .findingwords {
    white-space: normal;
    display: -webkit-box;
    -webkit-box-orient: vertical;
    -webkit-line-clamp: 2;
  }
  .pjit-inspector .findingfull,
  .pjit-inspector .findingbars {
    display: none;
  }
  .pjit-inspector .findingstrip:not(:has(.remedy)) {
    display: none;
  }
}
@container (max-width: 640px) {
  .pjit-inspector .findingwords {
    white-space: normal;
    display: -webkit-box;
    -webkit-box-orient: vertical;
    -webkit-line-clamp: 2;
  }
}
`;var ho=`.pjit-inspector {
  --mem-0: #5c6673;
  --mem-1: #8b96a3;
  --mem-2: #a59a86;
  --mem-3: #3f74b5;
  --mem-4: #c28a4a;
  --mem-5: #8d78c4;
  --mem-6: #6f9f63;
  --mem-7: #cbd1d8;
  --mem-rest: #e4e7eb;
  --scope-0: #1d4f8c;
  --scope-1: #5b8fd0;
  --scope-2: #2f6bb0;
  --scope-3: #86aede;
  --scope-4: #3f7cc4;
  --scope-5: #a9c6e9;
  --scope-6: #4f86c9;
  --mem-ink: #fff;
}
@media (prefers-color-scheme: dark) {
  :root:not([data-theme="light"]) .pjit-inspector:not(.light),
  :host .pjit-inspector:not(.light) {
    --mem-0: #8b95a1;
    --mem-1: #616b77;
    --mem-2: #857a66;
    --mem-3: #5b8fd0;
    --mem-4: #b57d3d;
    --mem-5: #8f79c9;
    --mem-6: #5f9152;
    --mem-7: #434a53;
    --mem-rest: #30353c;
    --scope-0: #8fbaf0;
    --scope-1: #3a6cab;
    --scope-2: #6b9fdf;
    --scope-3: #2c5284;
    --scope-4: #5286c8;
    --scope-5: #24436b;
    --scope-6: #4478b9;
  }
}
:root[data-theme="dark"] .pjit-inspector,
.pjit-inspector.dark {
  --mem-0: #8b95a1;
  --mem-1: #616b77;
  --mem-2: #857a66;
  --mem-3: #5b8fd0;
  --mem-4: #b57d3d;
  --mem-5: #8f79c9;
  --mem-6: #5f9152;
  --mem-7: #434a53;
  --mem-rest: #30353c;
  --scope-0: #8fbaf0;
  --scope-1: #3a6cab;
  --scope-2: #6b9fdf;
  --scope-3: #2c5284;
  --scope-4: #5286c8;
  --scope-5: #24436b;
  --scope-6: #4478b9;
}
.mem-0 {
  --m: var(--mem-0);
}
.mem-1 {
  --m: var(--mem-1);
}
.mem-2 {
  --m: var(--mem-2);
}
.mem-3 {
  --m: var(--mem-3);
}
.mem-4 {
  --m: var(--mem-4);
}
.mem-5 {
  --m: var(--mem-5);
}
.mem-6 {
  --m: var(--mem-6);
}
.mem-7 {
  --m: var(--mem-7);
}
.mem-rest {
  --m: var(--mem-rest);
}
.scope-0 {
  --m: var(--scope-0);
}
.scope-1 {
  --m: var(--scope-1);
}
.scope-2 {
  --m: var(--scope-2);
}
.scope-3 {
  --m: var(--scope-3);
}
.scope-4 {
  --m: var(--scope-4);
}
.scope-5 {
  --m: var(--scope-5);
}
.scope-6 {
  --m: var(--scope-6);
}
.pjit-inspector .mempane {
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
`;var po=`.pjit-inspector {
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
.pjit-inspector .graphfoot .swatch.bar {
  width: 4px;
  height: 11px;
  border-radius: 0;
  vertical-align: -1px;
}
@container (max-width: 1100px) {
  .pjit-inspector .graphbar .search {
    flex-basis: 90px;
    max-width: 150px;
  }
  .pjit-inspector .graphbar .hits:empty,
  .pjit-inspector .graphbar .roomonly {
    display: none;
  }
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
`;var fo=`.pjit-inspector .schedule {
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
`;var uo=`.pjit-inspector,
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
/* Where there is no room, names give way, never figures. */
.pjit-inspector .list .tabs button {
  display: flex;
  padding: 3px 4px;
  min-width: 0;
}
.pjit-inspector .list .tabname {
  min-width: 0;
  overflow: hidden;
  text-overflow: ellipsis;
}
.pjit-inspector .list .tabs .count {
  flex: none;
  white-space: pre;
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
.pjit-inspector .suggestion {
  border-left: 3px solid var(--line);
  background: var(--panel);
  padding: 8px;
  display: grid;
  gap: 6px;
  overflow-wrap: anywhere;
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
`;var mo=`.pjit-inspector .floating {
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
`;var Rh=[uo,mo,fo,lo,po,ho,co].join(`
`);function go(e){let t=document.createElement("style");t.textContent=Rh,(e instanceof Document?e.head:e).append(t)}function xo(e,t){let s=()=>{t?.(),e.listeners.forEach(o=>o(new Set(["theme"])))},n=["(prefers-color-scheme: dark)","(prefers-contrast: more)","(forced-colors: active)"].map(o=>matchMedia(o));n.forEach(o=>o.addEventListener("change",s));let i=new MutationObserver(s);return t&&i.observe(document.body,{attributes:!0,attributeFilter:["data-jp-theme-light","data-jp-theme-name"]}),()=>{n.forEach(o=>o.removeEventListener("change",s)),i.disconnect()}}function wo(e,t,s){let n=new ResizeObserver(()=>{if(!e.clientWidth)return;n.disconnect();let i={need:()=>Qi(e,t),isTall:()=>t.isNarrow()||t.graphNeed().isFlow},o=()=>{ro(e,i,s),requestAnimationFrame(()=>t.listeners.forEach(r=>r(new Set(["height"]))))};requestAnimationFrame(()=>requestAnimationFrame(o))});n.observe(e)}async function Nh(){let e=document.getElementById("pjit-inspector"),t=document.getElementById("pjit-first"),s=document.getElementById("pjit-blob");if(!e||!t||!s)return;let n=parent!==window;n&&e.classList.add("inset");let i=ms(e,JSON.parse(t.textContent??"")),o=document.getElementById("pjit-memory");o&&(i.readMemory=async()=>$t(await jt(ge(o.textContent??"")))),addEventListener("message",r=>{parent!==window&&r.source===parent&&Array.isArray(r.data?.pjitFindings?.rows)&&i.setFindings(r.data.pjitFindings)});try{i.open($t(await jt(ge(s.textContent??"")))),n&&oo(r=>wo(e,i,r)),ao(i),xo(i),performance.mark("pjit-ready"),e.setAttribute("data-ready","true")}catch(r){e.append(Object.assign(document.createElement("p"),{className:"nothing",textContent:`The rest of this page could not be read: ${r}`}))}}function Ih({model:e,el:t}){let s=t.attachShadow?t.attachShadow({mode:"open"}):t;go(s);let n=document.createElement("div");n.classList.add("inset"),s.append(n);let i=()=>{let x=document.body.dataset.jpThemeLight;n.classList.toggle("light",x==="true"),n.classList.toggle("dark",x==="false")};i();let o=ms(n,JSON.parse(e.get("_first"))),r=xo(o,i),a=!1,l=!1,c=async()=>{let x=e.get("_blob");if(!x?.byteLength)return;let w=x.buffer,y=$t(await jt(new Uint8Array(w,x.byteOffset,x.byteLength)));l||(a=!0,o.open(y),o.selectName(e.get("selection")),a=!1,wo(n,o,io(n)),n.setAttribute("data-ready","true"))},h=()=>{if(a||!o.data)return;let x=o.selectionName();x!==e.get("selection")&&(e.set("selection",x),e.save_changes())},d=()=>{a=!0,o.selectName(e.get("selection")),a=!1},f=()=>{let x=e.get("_findings");x&&o.setFindings(JSON.parse(x))},u=()=>{let x=e.get("_suggestions");x&&o.setSuggestions(JSON.parse(x))},m=null,g=()=>{let x=e.get("_memory");x?.byteLength&&(m?.(x),m=null)};return o.readMemory=async()=>{let x=await new Promise(y=>{m=y,e.get("_memory")?.byteLength||e.send({type:"memory"}),g()}),w=x.buffer;return $t(await jt(new Uint8Array(w,x.byteOffset,x.byteLength)))},o.ask=x=>e.send(x),o.listen(x=>x.has("selection")&&h()),e.on("change:_findings",f),e.on("change:_suggestions",u),f(),u(),e.on("change:_memory",g),e.on("change:_blob",c),e.on("change:selection",d),c(),e.send({type:"drawn"}),()=>{l=!0,r(),e.off("change:_memory",g),e.off("change:_blob",c),e.off("change:selection",d),e.off("change:_findings",f),e.off("change:_suggestions",u)}}typeof document<"u"&&document.getElementById("pjit-inspector")&&(go(document),Nh());var Am={render:Ih};export{Am as default};
