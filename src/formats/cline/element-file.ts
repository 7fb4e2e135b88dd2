import type { ProblemItem } from "../item.ts";
import type { Input } from "../reading/input.ts";
import type { JsonElement } from "../reading/json-elements.ts";
import type { JsonObject } from "../reading/json-lines.ts";

/** One object of the array in a file. */
export interface FileElement {
  readonly index: number;
  readonly value: JsonObject;
  readonly sizeBytes: number;
}

/**
 * A JSON file that holds an array of objects, or an object with such an array named `messages`: read one object at a
 * time, looking ahead as far as is asked for.
 */
export class ElementFile {
  /** What was broken; whoever reads takes it from here. */
  readonly problems: ProblemItem[] = [];
  /** Fields beside the array, as far as they have been passed. */
  readonly fields = new Map<string, unknown>();
  /** False once something of the file could not be read: then it does not show that earlier records are gone. */
  isWhole = true;
  readonly #path: string;
  readonly #isLive: boolean;
  readonly #elements: AsyncGenerator<JsonElement>;
  readonly #ahead: FileElement[] = [];
  #isDone = false;

  constructor(input: Input, path: string) {
    this.#path = path;
    this.#isLive = input.isLive;
    this.#elements = input.jsonElements(path, ["messages"]);
  }

  /** The object that many places ahead, which stays in the file: 0 is the next one. */
  async peek(distance = 0): Promise<FileElement | undefined> {
    while (this.#ahead.length <= distance && !this.#isDone) {
      const { done, value } = await this.#elements.next();
      if (done) this.#isDone = true;
      else this.#keep(value);
    }
    return this.#ahead[distance];
  }

  /** The next object, taken out. */
  async take(): Promise<FileElement | undefined> {
    await this.peek();
    return this.#ahead.shift();
  }

  async close(): Promise<void> {
    await this.#elements.return(undefined);
  }

  #keep(element: JsonElement): void {
    const { value, index, problem, sizeBytes } = element;
    if (problem !== undefined) this.#report(element, problem);
    if (value === undefined) this.isWhole = false;
    else if (index === undefined) this.fields.set(element.field, value);
    else if (value !== null && typeof value === "object" && !Array.isArray(value))
      this.#ahead.push({ index, value: value as JsonObject, sizeBytes });
    else this.#report({ ...element, value: undefined }, "not a JSON object");
  }

  #report({ line, value, isCut }: JsonElement, reason: string): void {
    // A file that is being written ends anywhere; the next reading finds it whole.
    if (isCut && this.#isLive) return;
    const severity = value === undefined ? "lost" : "damaged";
    this.problems.push({ type: "problem", path: this.#path, line, severity, reason });
  }
}
