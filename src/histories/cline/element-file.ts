import type { Input } from "../reading/input.ts";
import type { ProblemItem } from "../reading/item.ts";
import type { JsonElement } from "../reading/json-elements.ts";
import type { JsonObject } from "../reading/json-lines.ts";

/** One object in the file's array. */
export interface FileElement {
  readonly index: number;
  readonly value: JsonObject;
  readonly sizeBytes: number;
}

/**
 * Reads a JSON file with an array of objects, or an object with such an array named `messages`, one object at a time
 * and with lookahead.
 */
export class ElementFile {
  /** Problems so far; the reader removes them when it reports them. */
  readonly problems: ProblemItem[] = [];
  /** Fields outside the array that were read so far. */
  readonly fields = new Map<string, unknown>();
  /** False once part of the file was unreadable: then missing records do not prove a deletion. */
  isWhole = true;
  readonly #path: string;
  readonly #input: Input;
  readonly #elements: AsyncGenerator<JsonElement>;
  readonly #ahead: FileElement[] = [];
  #isDone = false;

  constructor(input: Input, path: string) {
    this.#path = path;
    this.#input = input;
    this.#elements = input.jsonElements(path, ["messages"]);
  }

  /** Returns the object at that distance without consuming it; 0 is the next one. */
  async peek(distance = 0): Promise<FileElement | undefined> {
    while (this.#ahead.length <= distance && !this.#isDone) {
      const { done, value } = await this.#elements.next();
      if (done) this.#isDone = true;
      else this.#keep(value);
    }
    return this.#ahead[distance];
  }

  /** Consumes the next object. */
  async take(): Promise<FileElement | undefined> {
    await this.peek();
    return this.#ahead.shift();
  }

  async close(): Promise<void> {
    await this.#elements.return(undefined);
  }

  #keep(element: JsonElement): void {
    const { value, index, sizeBytes } = element;
    this.#report(element);
    if (value === undefined) this.isWhole = false;
    else if (index === undefined) this.fields.set(element.field, value);
    else if (value !== null && typeof value === "object" && !Array.isArray(value))
      this.#ahead.push({ index, value: value as JsonObject, sizeBytes });
    else this.#report({ ...element, value: undefined, problem: "not a JSON object" });
  }

  #report(element: JsonElement): void {
    const problem = this.#input.elementProblem(this.#path, element);
    if (problem) this.problems.push(problem);
  }
}
