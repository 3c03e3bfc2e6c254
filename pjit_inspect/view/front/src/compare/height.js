// How high the page is in a notebook's output: what it shows at first, between two limits. A file of its own fills its
// window. The page around the frame sets the height (`view/inspector/page.py`).

const LEAST = 400;
const MOST = 720;
const LINE = 48;

/** Tells the page around the frame how high this one need be. @param {HTMLElement} root */
export function fitFrame(root) {
  if (parent === window) return;
  const bottoms = [
    [".rows", ".totals"],
    [".matrixbox", ".legend"],
  ].map(([body, foot]) => contentBottom(root.querySelector(body)) + outerHeight(root.querySelector(foot)));
  const height = Math.ceil(Math.min(MOST, Math.max(LEAST, ...bottoms)));
  parent.postMessage({ pjitInspect: { height } }, "*");
}

/** Where what is in a box would end, were the box as high as that; one that is empty has a line. @param {Element | null} box */
function contentBottom(box) {
  if (!box) return 0;
  const own = box.getBoundingClientRect();
  const last = box.lastElementChild?.getBoundingClientRect().bottom ?? own.top;
  return Math.max(last + box.scrollTop, own.top + LINE);
}

/** @param {Element | null} element */
function outerHeight(element) {
  return element ? element.getBoundingClientRect().height : 0;
}
