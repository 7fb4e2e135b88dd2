import type { ComponentChildren } from "preact";
import type { Resource } from "../api/use-resource.ts";
import { ErrorState } from "./error-state.tsx";
import { Loading } from "./loading.tsx";

/** Shows data once it is there; before that its loading, or its failure above the data that was there before. */
export function ResourceView<Value>({
  resource,
  children,
}: {
  readonly resource: Resource<Value>;
  readonly children: (value: Value) => ComponentChildren;
}) {
  const { value, failure, reload } = resource;
  return (
    <>
      {failure && <ErrorState failure={failure} retry={reload} />}
      {value !== undefined ? children(value) : !failure && <Loading />}
    </>
  );
}
