import { computed, signal } from "@preact/signals";

interface Place {
  readonly path: string;
  readonly query: string;
  readonly hash: string;
}

const readPlace = (): Place => ({ path: location.pathname, query: location.search, hash: location.hash });

/** The address that the dashboard shows. */
export const place = signal<Place>(readPlace());
export const query = computed(() => new URLSearchParams(place.value.query));

/** Opens an address of the dashboard. */
export function navigate(
  href: string,
  { isReplacing = false }: { readonly isReplacing?: boolean } = {},
): void {
  const before = place.peek().path;
  if (isReplacing) history.replaceState(null, "", href);
  else history.pushState(null, "", href);
  place.value = readPlace();
  const { path, hash } = place.peek();
  if (before !== path) scrollTo(0, 0);
  // The part with this name may be drawn again first.
  if (hash && !isReplacing)
    requestAnimationFrame(() => document.getElementById(decodeURIComponent(hash.slice(1)))?.scrollIntoView());
}

/** Changes values of the query without a new step in the history; undefined removes a value. */
export function setQuery(values: Readonly<Record<string, string | undefined>>): void {
  const next = new URLSearchParams(place.peek().query);
  for (const [name, value] of Object.entries(values)) {
    if (value === undefined || value === "") next.delete(name);
    else next.set(name, value);
  }
  const text = next.toString();
  navigate(place.peek().path + (text && `?${text}`) + place.peek().hash, { isReplacing: true });
}

/** Lets links inside the dashboard change the page without a reload, until `end` fires. */
export function watchLinks(end: AbortSignal): void {
  addEventListener("popstate", () => (place.value = readPlace()), { signal: end });
  document.addEventListener("click", followLink, { signal: end });
}

function followLink(event: MouseEvent): void {
  if (
    event.defaultPrevented ||
    event.button !== 0 ||
    event.metaKey ||
    event.ctrlKey ||
    event.shiftKey ||
    event.altKey
  )
    return;
  const link = event.composedPath().find((one): one is HTMLAnchorElement => one instanceof HTMLAnchorElement);
  if (!link || link.target || link.hasAttribute("download") || link.origin !== location.origin) return;
  if (
    link.pathname.startsWith("/api/") ||
    (link.pathname === location.pathname && link.hash && link.search === location.search)
  )
    return;
  event.preventDefault();
  navigate(link.pathname + link.search + link.hash);
}
