import { elementScroll, observeElementOffset, observeElementRect, Virtualizer } from "@tanstack/virtual-core";
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useMemo, useReducer, useRef } from "preact/hooks";

interface VirtualListProps {
  readonly label: string;
  readonly count: number;
  readonly keyOf: (index: number) => string | number;
  readonly row: (index: number) => ComponentChildren;
  readonly estimateHeight: number;
  /** The row that the list begins at, so that rows far from it are not drawn first. */
  readonly startIndex?: number;
  /** Called with the first and last index that show. */
  readonly onRange?: (first: number, last: number) => void;
  /** Receives the list, for scrolling to a row. */
  readonly listRef?: (list: Virtualizer<HTMLDivElement, HTMLElement>) => void;
}

/** A list that keeps only the visible rows in the page; rows may have any height. */
export function VirtualList({
  label,
  count,
  keyOf,
  row,
  estimateHeight,
  startIndex = 0,
  onRange,
  listRef,
}: VirtualListProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const [, update] = useReducer<number, void>((round) => round + 1, 0);
  const options = {
    count,
    getScrollElement: () => scroller.current,
    estimateSize: () => estimateHeight,
    getItemKey: keyOf,
    overscan: 6,
    initialOffset: startIndex * estimateHeight,
    observeElementRect,
    observeElementOffset,
    scrollToFn: elementScroll,
    onChange: () => update(),
  };
  const list = useMemo(() => new Virtualizer<HTMLDivElement, HTMLElement>(options), []);
  list.setOptions(options);
  useEffect(() => list._didMount(), []);
  useLayoutEffect(() => list._willUpdate());
  useEffect(() => listRef?.(list), []);
  // A row that only moves is not drawn again.
  const drawn = useMemo(() => new Map<unknown, ComponentChildren>(), [row]);
  const drawRow = (key: unknown, index: number) => {
    if (!drawn.has(key)) drawn.set(key, row(index));
    return drawn.get(key);
  };
  const measure = useMemo(() => (element: HTMLLIElement | null) => list.measureElement(element), []);
  const items = list.getVirtualItems();
  const first = items[0]?.index;
  const last = items.at(-1)?.index;
  useEffect(() => {
    if (first !== undefined && last !== undefined) onRange?.(first, last);
  }, [first, last, count]);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
    <section ref={scroller} class="virtual" aria-label={label} tabIndex={0}>
      <ol class="virtual-space" style={{ height: `${list.getTotalSize()}px` }}>
        {items.map(({ key, index, start }) => (
          <li
            key={key as string}
            ref={measure}
            data-index={index}
            class="virtual-row"
            style={{ transform: `translateY(${start}px)` }}
          >
            {drawRow(key, index)}
          </li>
        ))}
      </ol>
    </section>
  );
}
