/** Folders of a measurement in a child process. */
export interface ChildPlace {
  /** Empty at the start and removed when the child has ended. */
  readonly folder: string;
  /** The folder that `openCorpus` reads. */
  readonly corpusFolder: string;
}

/** A measurement that runs in a child process: an exported function with JSON input and output. */
export type ChildTask<Input, Output> = (input: Input, place: ChildPlace) => Promise<Output>;

/** A job that the parent sends to a child. */
export interface ChildJob {
  readonly moduleUrl: string;
  readonly taskName: string;
  readonly input: unknown;
  readonly place: ChildPlace;
}

/** Reply of a child. */
export type ChildAnswer = { readonly output: unknown } | { readonly error: string };
