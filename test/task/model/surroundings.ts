import type { Json } from "../../../src/model/json.ts";
import type { Isolation } from "../../../src/task/after-end.ts";
import type { TaskOptions } from "../../../src/task/options.ts";
import type { Troubled } from "./operations.ts";

/** What happened to the places of one task. */
export interface Places {
  made: number;
  settled: number;
}

/** What all processes of a world have around their tasks: isolation, checks and channels, any of which may fail or hang. */
export class Surroundings {
  /** Ids of notices that went out. */
  readonly sent: string[] = [];
  readonly places = new Map<string, Places>();
  /** What has hung, and does so for ever. */
  readonly hung = new Set<Troubled>();
  readonly #troubles = new Map<Troubled, "fails" | "hangs">();

  trouble(what: Troubled, isHanging: boolean): void {
    this.#troubles.set(what, isHanging ? "hangs" : "fails");
  }

  /** No more of it. */
  calm(): void {
    this.#troubles.clear();
  }

  /** Fails, or hangs for ever, if that was asked for; once. */
  async pass(what: Troubled): Promise<void> {
    const trouble = this.#troubles.get(what);
    this.#troubles.delete(what);
    if (trouble === "fails") throw new Error(`${what} failed`);
    if (trouble !== "hangs") return;
    this.hung.add(what);
    await new Promise(() => undefined);
  }

  /** For the supervisor of one process. */
  options(): Pick<TaskOptions, "isolations" | "afterEnd" | "channels"> {
    return {
      isolations: { box: this.#isolation() },
      afterEnd: [{ name: "check", run: () => this.pass("check").then(() => true) }],
      channels: [
        {
          name: "list",
          send: async ({ id }) => {
            await this.pass("send");
            this.sent.push(id);
          },
        },
      ],
    };
  }

  #isolation(): Isolation {
    const placesOf = (task: string) => {
      const places = this.places.get(task) ?? { made: 0, settled: 0 };
      this.places.set(task, places);
      return places;
    };
    return {
      prepare: async (task): Promise<Json> => {
        await this.pass("prepare");
        placesOf(task).made++;
        return { of: task };
      },
      settle: async (task) => {
        placesOf(task).settled++;
        await this.pass("settle");
        return { isRemoved: true };
      },
      collect: async (task) => {
        // It may be that nothing was made.
        const places = placesOf(task);
        places.settled = Math.max(places.settled, places.made);
        return undefined;
      },
    };
  }
}
