import { useEffect, useRef, useState } from "preact/hooks";

type Render = typeof import("../markdown/render-markdown.ts");
let loaded: Render | undefined;

/** Loads the renderer, so that the first messages need not be drawn twice. */
export async function loadMarkdown(): Promise<void> {
  loaded ??= await import("../markdown/render-markdown.ts");
}

/** Text of a message as Markdown. It shows as plain text until the renderer is loaded; HTML in it never runs. */
export function Markdown({ text }: { readonly text: string }) {
  const [render, setRender] = useState<Render | undefined>(() => loaded);
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    // Another message may have loaded it between the first rendering and this effect.
    if (loaded) return setRender(loaded);
    void loadMarkdown().then(() => setRender(loaded));
  }, []);
  useEffect(() => {
    if (!render || !place.current) return;
    const controller = new AbortController();
    place.current.replaceChildren(render.renderMarkdown(text));
    void render.highlightCode(place.current, controller.signal);
    return () => controller.abort();
  }, [render, text]);
  return render ? <div ref={place} class="markdown" /> : <div class="markdown plain">{text}</div>;
}
