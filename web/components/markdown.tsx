import { useCallback, useEffect, useRef, useState } from "preact/hooks";

type Render = typeof import("../markdown/render-markdown.ts");
let loaded: Render | undefined;

/** Loads the renderer, so that the first messages need not be drawn twice. */
export async function loadMarkdown(): Promise<void> {
  loaded ??= await import("../markdown/render-markdown.ts");
}

/**
 * Text of a message as Markdown, with some words marked. It shows as plain text until the renderer is loaded; HTML in it
 * never runs.
 */
export function Markdown({ text, marked }: { readonly text: string; readonly marked?: readonly string[] }) {
  const [render, setRender] = useState<Render | undefined>(() => loaded);
  const highlighting = useRef<AbortController>(undefined);
  useEffect(() => {
    // Another message may have loaded it between the first rendering and this effect.
    if (loaded) return setRender(loaded);
    void loadMarkdown().then(() => setRender(loaded));
  }, []);
  // Filled as soon as it is in the page, so that a list measures its row with the text and not without.
  const fill = useCallback(
    (place: HTMLDivElement | null) => {
      highlighting.current?.abort();
      if (!render || !place) return;
      highlighting.current = new AbortController();
      place.replaceChildren(render.renderMarkdown(text));
      if (marked) markWords(place, marked);
      void render.highlightCode(place, highlighting.current.signal);
    },
    [render, text, marked?.join("\n")],
  );
  return render ? <div ref={fill} class="markdown" /> : <div class="markdown plain">{text}</div>;
}

/** Marks every occurrence of the words in the texts below an element. */
function markWords(element: HTMLElement, words: readonly string[]): void {
  const pieces = [...new Set(words)]
    .filter(Boolean)
    .map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  if (pieces.length === 0) return;
  const pattern = new RegExp(`(${pieces.join("|")})`, "g");
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  const nodes: Text[] = [];
  while (walker.nextNode()) nodes.push(walker.currentNode as Text);
  for (const node of nodes) {
    const parts = node.data.split(pattern);
    if (parts.length === 1) continue;
    node.replaceWith(
      ...parts.map((part, index) => {
        if (index % 2 === 0) return part;
        const mark = document.createElement("mark");
        mark.textContent = part;
        return mark;
      }),
    );
  }
}
