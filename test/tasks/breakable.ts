import type { Store } from "../../src/log/store/store.ts";
import { type ErrorCode, LonghaulError } from "../../src/model/errors.ts";

/** A call to a store: its part, method and arguments. */
export interface StoreCall {
  readonly part: string;
  readonly method: string;
  readonly args: readonly unknown[];
}

/** A store whose calls fail with the code that `codeOf` returns, if any. */
export function breakable(store: Store, codeOf: (call: StoreCall) => ErrorCode | undefined): Store {
  const wrap = <Part extends object>(part: string, whole: Part): Part =>
    new Proxy(whole, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name);
        if (typeof value !== "function") return value;
        return async (...args: unknown[]) => {
          const code = codeOf({ part, method: String(name), args });
          if (code) throw new LonghaulError(code, "The store failed.");
          return value.apply(target, args);
        };
      },
    });
  return {
    ...store,
    sessions: wrap("sessions", store.sessions),
    entries: wrap("entries", store.entries),
    leases: wrap("leases", store.leases),
    tasks: wrap("tasks", store.tasks),
    onCommit: (listener) => store.onCommit(listener),
  } as Store;
}

/** Whether a call writes the notice of a task. */
export function isNotice({ method, args }: StoreCall): boolean {
  const [requests] = args as [readonly { readonly task?: { readonly marks?: string } }[]];
  return method === "append" && requests.some(({ task }) => task?.marks === "notice");
}

/** Whether a call writes a note of a type. */
export function isNoteOf({ method, args }: StoreCall, type: string): boolean {
  const [requests] = args as [readonly { readonly entries: readonly { readonly payload: Uint8Array }[] }[]];
  const texts = (request: { readonly entries: readonly { readonly payload: Uint8Array }[] }) =>
    request.entries.map(({ payload }) => Buffer.from(payload).toString());
  return (
    method === "append" &&
    requests.some((request) => texts(request).some((text) => text.includes(`"type":"${type}"`)))
  );
}
