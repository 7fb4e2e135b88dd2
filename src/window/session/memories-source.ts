/** The memories of an agent. */
export interface MemoriesSource {
  readonly agent: string;
  /** Returns them as a section of the prompt; undefined if there are none. */
  readonly read: () => Promise<string | undefined>;
}
