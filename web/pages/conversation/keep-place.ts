import type { Virtualizer } from "@tanstack/virtual-core";

export type RowList = Virtualizer<HTMLDivElement, HTMLElement>;

/** Distance from the end, in pixels, at which the reader counts as being at the end. */
const NEAR_END = 48;

/** Rows above a linked entry get their heights within this time; afterwards the reader's own scrolling counts. */
const SETTLE_MS = 3_000;

/** A place that the view holds while rows around it change their heights. */
type Hold = { readonly type: "end" } | { readonly type: "row"; readonly index: () => number } | undefined;

/**
 * Keeps a list at its place: at the end while messages come in, at the entry of a link while rows above it get their
 * heights, and at the rows in view when pages come in or leave.
 */
export class PlaceKeeper {
  /** False while newer rows are still to be loaded: the end of the list is then not the end of the conversation. */
  isAtEnd = true;
  #list: RowList | undefined;
  #hold: Hold;
  #seen: readonly { readonly key: unknown; readonly delta: number }[] = [];
  #end = new AbortController();

  /** Takes over a list. */
  attach(list: RowList): void {
    this.#list = list;
    const scroller = list.scrollElement;
    const space = scroller?.firstElementChild;
    if (!scroller || !space) return;
    const { signal } = this.#end;
    const release = () => {
      this.#hold = undefined;
    };
    document.addEventListener("keydown", release, { signal });
    for (const name of ["wheel", "touchmove", "pointerdown"] as const)
      scroller.addEventListener(name, release, { signal, passive: true });
    scroller.addEventListener(
      "scroll",
      () => {
        const { scrollTop, scrollHeight, clientHeight } = scroller;
        if (this.isAtEnd && this.#hold === undefined && scrollHeight - scrollTop - clientHeight < NEAR_END)
          this.#hold = { type: "end" };
      },
      { signal, passive: true },
    );
    const observer = new ResizeObserver(() => this.#settle());
    observer.observe(space);
    signal.addEventListener("abort", () => observer.disconnect());
  }

  /** Goes to the end and stays there. */
  holdEnd(): void {
    this.#hold = { type: "end" };
    this.#settle();
  }

  /** Goes to a row and stays there until the reader scrolls. */
  holdRow(index: () => number): void {
    const hold: Hold = { type: "row", index };
    this.#hold = hold;
    setTimeout(() => {
      if (this.#hold === hold) this.#hold = undefined;
    }, SETTLE_MS);
    this.#settle();
  }

  /** Remembers the rows in view, before the rows change. */
  remember(): void {
    const list = this.#list;
    // The list learns of scrolling with the next frame, the element knows it at once.
    const offset = list?.scrollElement?.scrollTop ?? 0;
    const items = list?.getVirtualItems() ?? [];
    const inView = items.filter(({ end }) => end > offset);
    const seen = inView.length > 0 ? inView : items.toReversed();
    this.#seen = seen.map(({ key, start }) => ({ key, delta: start - offset }));
  }

  /** Brings the remembered rows back to where they were, after the rows have changed. */
  restore(keys: readonly string[]): void {
    const list = this.#list;
    if (!list || this.#hold) {
      this.#settle();
      return;
    }
    const places = new Map(keys.map((key, index) => [key as unknown, index]));
    const kept = this.#seen.find(({ key }) => places.has(key));
    if (!kept) return;
    list.getVirtualItems();
    const start = list.measurementsCache[places.get(kept.key) as number]?.start;
    const scroller = list.scrollElement;
    if (!scroller || start === undefined || Math.abs(start - kept.delta - scroller.scrollTop) <= 1) return;
    // The list's own scrolling would repeat itself over the next frames, against the reader.
    scroller.scrollTop = start - kept.delta;
    list.scrollOffset = scroller.scrollTop;
    list.options.onChange(list, false);
  }

  close(): void {
    this.#end.abort();
  }

  #settle(): void {
    const list = this.#list;
    const scroller = list?.scrollElement;
    if (!list || !scroller || !this.#hold) return;
    if (this.#hold.type === "end") {
      scroller.scrollTop = scroller.scrollHeight;
      return;
    }
    const index = this.#hold.index();
    if (index < 0) return;
    list.getVirtualItems();
    const item = list.measurementsCache[index];
    if (item) scroller.scrollTop = item.start - Math.max(16, (scroller.clientHeight - item.size) / 3);
  }
}
