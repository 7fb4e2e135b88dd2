import type { Json } from "../../../src/model/json.ts";
import type { Isolation } from "../../../src/tasks/after-end.ts";
import type { TaskOptions } from "../../../src/tasks/task-options.ts";
import type { Troubled } from "./operations.ts";

/** Counts of one task's places. */
export interface Places {
  made: number;
  settled: number;
}

/** Isolation, checks and channels of all processes of a world; any of them may fail or hang. */
export class Surroundings {
  /** Ids of sent notices. */
  readonly sent: string[] = [];
  readonly places = new Map<string, Places>();
  /** Parts that have hung, which lasts forever. */
  readonly hung = new Set<Troubled>();
  readonly #troubles = new Map<Troubled, "fails" | "hangs">();

  trouble(what: Troubled, isHanging: boolean): void {
    this.#troubles.set(what, isHanging ? "hangs" : "fails");
  }

  /** Ends all troubles. */
  calm(): void {
    this.#troubles.clear();
  }

  /** Fails or hangs forever once, if requested. */
  async pass(what: Troubled): Promise<void> {
    const trouble = this.#troubles.get(what);
    this.#troubles.delete(what);
    if (trouble === "fails") throw new Error(`${what} failed`);
    if (trouble !== "hangs") return;
    this.hung.add(what);
    await new Promise(() => undefined);
  }

  /** Options for the supervisor of one process. */
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
        // Possibly nothing was created.
        const places = placesOf(task);
        places.settled = Math.max(places.settled, places.made);
        return undefined;
      },
    };
  }
}
