import type { Entry } from "../../session/session-types.ts";

/** A page of entries, as the API returns it. */
export interface EntryPage {
  readonly entries: readonly Entry[];
  readonly before?: string | undefined;
  readonly after?: string | undefined;
}

/** The place of a page: at a cursor, around an entry, or the newest. */
export interface PagePlace {
  readonly before?: string;
  readonly after?: string;
  readonly around?: string;
}

export type ReadPage = (place: PagePlace, signal: AbortSignal) => Promise<EntryPage>;

/** The entries that a view holds; a new object after each change. */
export interface LoadedEntries {
  readonly entries: readonly Entry[];
  readonly hasOlder: boolean;
  /** True if the newest entry is among them. */
  readonly isAtEnd: boolean;
  /** Changes whenever the view jumped elsewhere. */
  readonly jump: number;
}

interface EntryPagesOptions {
  readonly read: ReadPage;
  readonly onChange: (loaded: LoadedEntries) => void;
  /** Entries per page; the read function uses the same number. */
  readonly pageSize: number;
  /** Maximum number of entries that are held; the far end is dropped. */
  readonly maxEntries: number;
}

/** Entries around the reader of a conversation of any length: pages come in at both ends, and the far end is dropped. */
export class EntryPages {
  readonly #options: EntryPagesOptions;
  #end = new AbortController();
  #loaded: LoadedEntries = { entries: [], hasOlder: false, isAtEnd: false, jump: 0 };
  #before: string | undefined;
  #after: string | undefined;
  #isLoadingOlder = false;
  #isLoadingNewer = false;

  constructor(options: EntryPagesOptions) {
    this.#options = options;
  }

  get loaded(): LoadedEntries {
    return this.#loaded;
  }

  /** Shows the newest page. */
  async openNewest(): Promise<void> {
    await this.#open({}, true);
  }

  /** Shows the page around an entry, by its seq or id. */
  async openAround(entry: string): Promise<void> {
    await this.#open({ around: entry }, false);
  }

  /** Shows the oldest page; `start` is the cursor before the first entry. */
  async openOldest(start: string): Promise<void> {
    await this.#open({ after: start }, false);
  }

  /** Adds the page before the first entry. */
  async loadOlder(): Promise<void> {
    if (this.#isLoadingOlder || this.#before === undefined) return;
    this.#isLoadingOlder = true;
    const { signal } = this.#end;
    try {
      const page = await this.#options.read({ before: this.#before }, signal);
      if (signal.aborted) return;
      this.#before = page.before;
      const entries = [...page.entries, ...this.#loaded.entries];
      const kept = entries.slice(0, this.#options.maxEntries);
      const isCut = kept.length < entries.length;
      if (isCut) this.#after = this.#cursorOf(kept.at(-1) as Entry);
      this.#set({ entries: kept, isAtEnd: this.#loaded.isAtEnd && !isCut });
    } finally {
      if (signal === this.#end.signal) this.#isLoadingOlder = false;
    }
  }

  /** Adds the page after the last entry. */
  async loadNewer(): Promise<void> {
    if (this.#isLoadingNewer || this.#after === undefined || this.#loaded.isAtEnd) return;
    this.#isLoadingNewer = true;
    const { signal } = this.#end;
    try {
      const page = await this.#options.read({ after: this.#after }, signal);
      if (signal.aborted) return;
      this.#after = page.after ?? this.#after;
      this.#addNewer(page.entries, page.entries.length < this.#options.pageSize);
    } finally {
      if (signal === this.#end.signal) this.#isLoadingNewer = false;
    }
  }

  /** Adds an entry that was just written, if the view is at the end. Returns false if it is not. */
  append(entry: Entry): boolean {
    if (!this.#loaded.isAtEnd || this.#isLoadingNewer) return false;
    const known = this.#loaded.entries.at(-1);
    if (known && known.session === entry.session && known.seq >= entry.seq) return true;
    this.#addNewer([entry], true);
    this.#after = this.#cursorOf(entry);
    return true;
  }

  /** Replaces an entry by its new state, such as a redacted one. */
  replace(entry: Entry): void {
    const entries = this.#loaded.entries.map((one) => (one.id === entry.id ? entry : one));
    this.#set({ entries });
  }

  /** Ends all requests. */
  close(): void {
    this.#end.abort();
  }

  async #open(place: PagePlace, isAtEnd: boolean): Promise<void> {
    this.#end.abort();
    this.#end = new AbortController();
    this.#isLoadingOlder = false;
    this.#isLoadingNewer = false;
    const { signal } = this.#end;
    const page = await this.#options.read(place, signal);
    if (signal.aborted) return;
    this.#before = page.before;
    this.#after = page.after;
    const jump = this.#loaded.jump + 1;
    this.#set({ entries: page.entries, isAtEnd, jump });
  }

  #addNewer(added: readonly Entry[], isAtEnd: boolean): void {
    const entries = [...this.#loaded.entries, ...added];
    const kept = entries.slice(-this.#options.maxEntries);
    if (kept.length < entries.length) this.#before = this.#cursorOf(kept[0] as Entry);
    this.#set({ entries: kept, isAtEnd });
  }

  /** The cursor of an entry on the line of the pages: "<line>@<id>", or its seq for pages of the log. */
  #cursorOf({ id, seq }: Entry): string {
    const line = /^\d+@/.exec(this.#after ?? this.#before ?? "")?.[0];
    return line === undefined ? String(seq) : `${line}${id}`;
  }

  #set(change: Partial<LoadedEntries>): void {
    this.#loaded = { ...this.#loaded, ...change, hasOlder: this.#before !== undefined };
    this.#options.onChange(this.#loaded);
  }
}
