/** Where a measurement in a child process works. */
export interface ChildPlace {
  /** Empty at the start and removed when the child has ended. */
  readonly folder: string;
  /** The folder that `openCorpus` reads. */
  readonly corpusFolder: string;
}

/** A measurement that runs in a child process: an exported function whose input and output are JSON. */
export type ChildTask<Input, Output> = (input: Input, place: ChildPlace) => Promise<Output>;

/** What the parent asks a child to do. */
export interface ChildJob {
  readonly moduleUrl: string;
  readonly taskName: string;
  readonly input: unknown;
  readonly place: ChildPlace;
}

/** What a child answers. */
export type ChildAnswer = { readonly output: unknown } | { readonly error: string };
