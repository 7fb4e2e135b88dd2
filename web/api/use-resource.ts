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

/** Time before an unanswered request is repeated. */
const RETRY_MS = 3_000;

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
  const { failure } = state;
  // A page that was opened during an outage recovers by itself.
  useEffect(() => {
    if (!failure || (failure.status !== 0 && failure.status !== 503)) return;
    const timer = setTimeout(reload, RETRY_MS);
    return () => clearTimeout(timer);
  }, [failure]);
  return { ...state, reload };
}
