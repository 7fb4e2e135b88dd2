import type { ComponentType } from "preact";
import { useEffect, useErrorBoundary, useState } from "preact/hooks";
import { toFailure } from "../api/api-failure.ts";
import { EmptyState } from "../components/empty-state.tsx";
import { ErrorState } from "../components/error-state.tsx";
import { Loading } from "../components/loading.tsx";
import { language } from "../i18n/language.ts";
import { shellText } from "../i18n/shell-text.ts";
import { findPage } from "./page-registry.ts";
import type { PageProps, PageRoute } from "./page-route.ts";
import { place, query } from "./router.ts";

const loaded = new Map<PageRoute, ComponentType<PageProps>>();

/** Shows the page of the address; its module is loaded first. */
export function PageView() {
  const found = findPage(place.value.path);
  const page = found?.page;
  const [failure, forget] = useErrorBoundary();
  const [, setRound] = useState(0);
  const [loadError, setLoadError] = useState<unknown>();
  useEffect(() => {
    forget();
    setLoadError(undefined);
    document.title = page ? `${page.label[language.value]} · longhaul` : "longhaul";
    if (!page || loaded.has(page)) return;
    page.load().then((module) => {
      loaded.set(page, module.default);
      setRound((last) => last + 1);
    }, setLoadError);
  }, [page, language.value]);
  if (!page)
    return (
      <EmptyState title={shellText("nothingHere")} hint={shellText("nothingHereHint")}>
        <a class="button" href="/">
          {shellText("toOverview")}
        </a>
      </EmptyState>
    );
  const problem = failure ?? loadError;
  if (problem) return <ErrorState failure={toFailure(problem)} retry={() => location.reload()} />;
  const Page = loaded.get(page);
  return Page ? <Page params={found.params} query={query.value} /> : <Loading />;
}
