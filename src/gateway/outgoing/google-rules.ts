import { toArray, toObject } from "../../wire/fields.ts";
import type { WireObject } from "../../wire/wire.ts";
import type { Violation } from "./violation.ts";

/**
 * Rules of Google's generateContent that contents violate: a content with function calls is followed by one with as
 * many responses of the same names, and every response follows its call.
 */
export function findGoogleViolations(elements: readonly WireObject[]): readonly Violation[] {
  const found: Violation[] = [];
  let open: string[] = [];
  let caller = 0;
  const close = () => {
    for (const id of open) found.push({ rule: "call-without-result", element: caller, id });
    open = [];
  };
  for (const [element, own] of elements.entries()) {
    const answers = listNames(own, "functionResponse");
    for (const id of answers) {
      const at = open.indexOf(id);
      if (at === -1) found.push({ rule: "result-without-call", element, id });
      else open.splice(at, 1);
    }
    if (answers.length === 0 || own.role === "model") close();
    const calls = listNames(own, "functionCall");
    if (calls.length === 0) continue;
    open = [...calls];
    caller = element;
  }
  close();
  return found;
}

function listNames({ parts }: WireObject, field: "functionCall" | "functionResponse"): readonly string[] {
  return toArray(parts).flatMap((part) => {
    const named = toObject(toObject(part)?.[field]);
    return named ? [String(named.name)] : [];
  });
}
