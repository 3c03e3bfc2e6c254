// The script of a page that carries its own script deflated: a page is half as long. It runs what it carries.

import { fromBase64, inflate } from "./blob.js";

const carried = document.getElementById("pjit-script");
if (carried) {
  const script = document.createElement("script");
  script.type = "module";
  // The page's policy lets this text run, by its hash, and no other.
  script.textContent = new TextDecoder().decode(await inflate(fromBase64(carried.textContent ?? "")));
  carried.replaceWith(script);
}
