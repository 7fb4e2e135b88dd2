import { useCallback, useEffect, useState } from "preact/hooks";
import { type ApiFailure, toFailure } from "./api-failure.ts";

/** Data of a page: it may be loading, failed or ready; older data stays visible while newer data loads. */
export interface Resource<Value> {
  readonly value: Value | undefined;
  readonly failure: ApiFailure | undefined;
  readonly isLoading: boolean;
  /** Loads again. */
  readonly reload: () => void;
}

/** Loads data when the page opens and whenever one of `inputs` changes. An outdated request is aborted. */
export function useResource<Value>(
  load: (signal: AbortSignal) => Promise<Value>,
  inputs: readonly unknown[],
): Resource<Value> {
  const [state, setState] = useState<Omit<Resource<Value>, "reload">>({
    value: undefined,
    failure: undefined,
    isLoading: true,
  });
  const [round, setRound] = useState(0);
  const reload = useCallback(() => setRound((last) => last + 1), []);
  useEffect(() => {
    const controller = new AbortController();
    setState((last) => ({ ...last, isLoading: true }));
    load(controller.signal).then(
      (value) => {
        if (!controller.signal.aborted) setState({ value, failure: undefined, isLoading: false });
      },
      (error) => {
        if (!controller.signal.aborted)
          setState((last) => ({ ...last, failure: toFailure(error), isLoading: false }));
      },
    );
    return () => controller.abort();
  }, [...inputs, round]);
  return { ...state, reload };
}
