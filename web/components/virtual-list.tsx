import {
  defaultRangeExtractor,
  elementScroll,
  observeElementOffset,
  observeElementRect,
  type Range,
  Virtualizer,
} from "@tanstack/virtual-core";
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

/** Rows drawn before the first and after the last visible one. */
const OVERSCAN = 6;

/** A list that keeps only the visible rows, and the row with the focus, in the page; rows may have any height. */
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
  const focused = useRef<string | undefined>(undefined);
  const [, update] = useReducer<number, void>((round) => round + 1, 0);
  const options = {
    count,
    getScrollElement: () => scroller.current,
    estimateSize: () => estimateHeight,
    getItemKey: keyOf,
    overscan: OVERSCAN,
    // Rows that arrive in front move the others out of view for one frame: a row removed then would lose the focus.
    rangeExtractor: (range: Range) => {
      const indexes = defaultRangeExtractor(range);
      if (focused.current === undefined) return indexes;
      const kept = Array.from({ length: count }).findIndex(
        (_, index) => String(keyOf(index)) === focused.current,
      );
      return kept < 0 || indexes.includes(kept) ? indexes : [...indexes, kept].sort((a, b) => a - b);
    },
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
  const first = list.range && Math.max(0, list.range.startIndex - OVERSCAN);
  const last = list.range && Math.min(count - 1, list.range.endIndex + OVERSCAN);
  useEffect(() => {
    if (typeof first === "number" && typeof last === "number") onRange?.(first, last);
  }, [first, last, count]);
  return (
    <section
      ref={scroller}
      class="virtual"
      aria-label={label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
      tabIndex={0}
      onFocusIn={({ target }) => {
        focused.current = (target as HTMLElement).closest("li")?.dataset.key;
      }}
      onFocusOut={() => {
        focused.current = undefined;
      }}
    >
      <ol class="virtual-space" style={{ height: `${list.getTotalSize()}px` }}>
        {items.map(({ key, index, start }) => (
          <li
            key={key as string}
            ref={measure}
            data-index={index}
            data-key={key}
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
