/** The part of a LangChain message that the bench reads. */
export interface Message {
  readonly text: string;
}

/** Return value of a graph node. */
export interface Update {
  readonly messages?: readonly Message[];
}

/** The part of a compiled graph that a chat uses. */
export interface Graph {
  invoke(input: Update, config: object): Promise<unknown>;
  updateState(config: object, update: Update, asNode: string): Promise<unknown>;
  getState(config: object): Promise<{ readonly values: Update }>;
}

const THREAD = { configurable: { thread_id: "bench" } };

interface Turn {
  readonly entered: PromiseWithResolvers<void>;
  readonly answer: PromiseWithResolvers<Update>;
}

/**
 * Runs one invoke per turn, as a chat does: it starts with the user's message, waits in the model's node, and ends with
 * the reply. A turn thus writes exactly the checkpoints it would write with a real model.
 */
export class Chat {
  readonly #graph: Graph;
  #turn: Turn | undefined;
  #running: Promise<unknown> | undefined;

  constructor(graph: Graph) {
    this.#graph = graph;
  }

  /** Resolves once the graph has stored the message and entered the model's node. */
  async begin(message: Message): Promise<void> {
    await this.end();
    this.#turn = { entered: Promise.withResolvers(), answer: Promise.withResolvers() };
    // Only "sync" guarantees that a checkpoint is stored before the next node runs.
    this.#running = this.#graph.invoke({ messages: [message] }, { ...THREAD, durability: "sync" });
    // `end` awaits the same promise and throws failures that occur after the node was entered.
    this.#running.catch(() => undefined);
    await Promise.race([this.#turn.entered.promise, this.#running]);
  }

  /** The model's node: waits for the reply passed to `end`. */
  async reply(): Promise<Update> {
    this.#turn?.entered.resolve();
    return (await this.#turn?.answer.promise) ?? {};
  }

  /** Ends the running turn, with or without a reply; outside a turn it just adds the reply. */
  async end(reply?: Message): Promise<void> {
    const update = reply ? { messages: [reply] } : {};
    const turn = this.#turn;
    this.#turn = undefined;
    if (turn) {
      turn.answer.resolve(update);
      await this.#running;
    } else if (reply) {
      await this.#graph.updateState(THREAD, update, "model");
    }
  }

  /** Adds messages to the thread in one step, without a turn. */
  async update(messages: readonly Message[]): Promise<void> {
    await this.end();
    await this.#graph.updateState(THREAD, { messages }, "model");
  }

  /** Texts of the newest messages, oldest first. */
  async last(count: number): Promise<readonly string[]> {
    const { values } = await this.#graph.getState(THREAD);
    return (values.messages ?? []).slice(-count).map((message) => message.text);
  }
}
