import "./page-tabs.css";

interface PageTab {
  readonly href: string;
  readonly label: string;
  /** A number next to the label, such as what waits; 0 and undefined show nothing. */
  readonly count?: number | undefined;
  readonly isCurrent: boolean;
}

/** Links to the views of one page. */
export function PageTabs({ label, tabs }: { readonly label: string; readonly tabs: readonly PageTab[] }) {
  return (
    <nav class="page-tabs" aria-label={label}>
      {tabs.map(({ href, label: name, count, isCurrent }) => (
        <a key={href} href={href} aria-current={isCurrent ? "page" : undefined}>
          {name} {count ? <span class="page-tab-count number">{count}</span> : null}
        </a>
      ))}
    </nav>
  );
}
