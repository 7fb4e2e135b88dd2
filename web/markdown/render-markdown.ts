import DOMPurify, { type Config } from "dompurify";
import { Marked } from "marked";
import { whenIdle } from "../live/when-idle.ts";

const marked = new Marked({ gfm: true, breaks: true, async: false });

/** Conversations may contain anything: only text, lists, tables and links are kept. */
const ALLOWED: Config & { RETURN_DOM_FRAGMENT: true } = {
  ALLOWED_TAGS: [
    ...[
      "a",
      "b",
      "blockquote",
      "br",
      "code",
      "del",
      "details",
      "em",
      "h1",
      "h2",
      "h3",
      "h4",
      "h5",
      "h6",
      "hr",
      "i",
    ],
    ...["kbd", "li", "mark", "ol", "p", "pre", "s", "span", "strong", "sub", "summary", "sup"],
    ...["table", "tbody", "td", "th", "thead", "tr", "ul"],
  ],
  ALLOWED_ATTR: ["align", "class", "href", "start", "title"],
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
  ALLOWED_URI_REGEXP: /^(?:https?:|mailto:)/i,
  RETURN_DOM_FRAGMENT: true,
};

/** Only the class that names a language may come from a message; others would borrow the styles of the page. */
const purifier = DOMPurify(window);
purifier.addHook("uponSanitizeAttribute", (_, attribute) => {
  if (
    attribute.attrName === "class" &&
    !/^(?:language-[\w+#-]{1,40}|hljs[\w -]{0,80})$/.test(attribute.attrValue)
  )
    attribute.keepAttr = false;
});
purifier.addHook("afterSanitizeAttributes", (node) => {
  if (node.tagName !== "A") return;
  node.setAttribute("target", "_blank");
  node.setAttribute("rel", "noopener noreferrer nofollow");
});

/** Renders Markdown. The sanitizer comes last, so that nothing of Markdown's output escapes it. */
export function renderMarkdown(text: string): DocumentFragment {
  return purifier.sanitize(marked.parse(text) as string, ALLOWED);
}

/** Sanitizes highlighted code. */
export function sanitizeCode(html: string): DocumentFragment {
  return purifier.sanitize(html, { ...ALLOWED, ALLOWED_TAGS: ["span"], ALLOWED_ATTR: ["class"] });
}

/** Colors the code blocks inside an element; the highlighter is loaded when there is one. */
export async function highlightCode(element: HTMLElement, signal: AbortSignal): Promise<void> {
  const blocks = [...element.querySelectorAll<HTMLElement>('pre > code[class^="language-"]')];
  if (blocks.length === 0) return;
  // Words come before colors.
  await whenIdle();
  if (signal.aborted) return;
  const { highlight } = await import("./highlight.ts");
  for (const block of blocks) {
    const html = highlight(block.textContent ?? "", block.className.slice("language-".length));
    if (html !== undefined && !signal.aborted) block.replaceChildren(sanitizeCode(html));
  }
}
