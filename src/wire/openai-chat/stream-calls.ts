import { parseJsonOrUndefined, toArray, toNumber, toObject, toText } from "../fields.ts";
import type { WireObject } from "../wire.ts";

interface OpenCall {
  id: string;
  name: string;
  /** Arguments, or the input of a custom tool, received so far. */
  input: string;
  isCustom: boolean;
  /** Other fields, which some servers expect back. */
  rest: { [field: string]: unknown };
}

/** The tool calls of a streamed message. */
export class StreamCalls {
  readonly #calls: OpenCall[] = [];
  readonly #byIndex = new Map<number, OpenCall>();

  get hasAny(): boolean {
    return this.#calls.length > 0;
  }

  /** Adds the `tool_calls` of a delta. */
  add(value: unknown): void {
    for (const entry of toArray(value)) {
      const delta = toObject(entry);
      if (delta) this.#addTo(this.#callFor(delta), delta);
    }
  }

  /** Complete calls as entries of `tool_calls`. */
  completeCalls(isCutShort: boolean): readonly WireObject[] {
    return this.#calls.flatMap(({ id, name, input, isCustom, rest }): readonly WireObject[] => {
      if (name === "" || id === "") return [];
      if (isCustom) return isCutShort ? [] : [{ ...rest, id, type: "custom", custom: { name, input } }];
      const isWhole = input.trim() === "" ? !isCutShort : parseJsonOrUndefined(input) !== undefined;
      return isWhole ? [{ ...rest, id, type: "function", function: { name, arguments: input } }] : [];
    });
  }

  #callFor(delta: WireObject): OpenCall {
    const id = toText(delta.id);
    const index = toNumber(delta.index);
    const known =
      index === undefined
        ? id === undefined
          ? this.#calls.at(-1)
          : this.#calls.find((call) => call.id === id)
        : this.#byIndex.get(index);
    // Some servers give all their calls the index 0.
    const isOther = known && id !== undefined && known.id !== "" && known.id !== id;
    if (known && !isOther) return known;
    const call: OpenCall = { id: "", name: "", input: "", isCustom: false, rest: {} };
    this.#calls.push(call);
    this.#byIndex.set(index ?? this.#calls.length - 1, call);
    return call;
  }

  #addTo(call: OpenCall, { id, type, index: _, function: called, custom, ...rest }: WireObject): void {
    if (call.id === "") call.id = toText(id) ?? "";
    call.isCustom ||= type === "custom" || toObject(custom) !== undefined;
    const target = toObject(custom) ?? toObject(called);
    if (call.name === "") call.name = toText(target?.name) ?? "";
    const piece = target?.arguments ?? target?.input;
    if (typeof piece === "string") call.input += piece;
    else if (toObject(piece)) call.input = JSON.stringify(piece);
    Object.assign(call.rest, rest);
  }
}
