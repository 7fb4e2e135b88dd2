import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import type { Kernel } from "../../../src/kernel/index.ts";
import type { Load } from "./actor.ts";
import type { SpendingRecord } from "./spending-record.ts";

/** A member of the team with a token. */
export interface ClusterPerson {
  readonly name: string;
  readonly secret: string;
}

/** The budgets of the people of a cluster, which run out again and again. */
export interface BudgetLoad extends Load {
  /** A client was refused: checks the budgets of the person, and raises them. */
  raise(person: string): Promise<void>;
}

const BY = "soak";
/** Budgets are raised by so much when they are used up. */
const STEP = { tokens: 60_000, requests: 25 } as const;
const UNITS = ["tokens", "requests"] as const;

/** Adds people with budgets that are soon used up, and a budget of the team that counts all of them. */
export async function addPeople(kernel: Kernel, names: readonly string[]): Promise<readonly ClusterPerson[]> {
  const people: ClusterPerson[] = [];
  for (const name of names) {
    const { secret } = await kernel.team.add(name, { by: BY });
    people.push({ name, secret });
    for (const unit of UNITS)
      await kernel.team.setBudget({ person: name, unit, amount: STEP[unit], period: "total" }, { by: BY });
  }
  await kernel.team.setBudget({ unit: "tokens", amount: 1e12, period: "total" }, { by: BY });
  return people;
}

/**
 * Compares budgets with the requests that the provider served: whenever one is used up, and in the end.
 * `clients` requests of a person are in flight at most.
 */
export function createBudgetLoad(kernel: Kernel, record: SpendingRecord, clients: number): BudgetLoad {
  const raising = new Map<string, Promise<void>>();
  let raises = 0;
  let maxExcess = 0;

  /** The person's own budgets, and those of the team. */
  const read = async (person: string) => {
    const { acknowledgedTokens } = record.get(person);
    const all = await kernel.team.budgets(person);
    const own = UNITS.map((unit) => {
      const found = all.find((one) => one.person === person && one.unit === unit);
      assert.ok(found, `${person} has lost the budget in ${unit}`);
      return found;
    });
    const [tokens] = own;
    assert.ok(
      (tokens?.spent ?? 0) >= acknowledgedTokens,
      `${person} has received replies of ${acknowledgedTokens} tokens, but only ${tokens?.spent} are counted`,
    );
    return own;
  };
  const check = async (person: string) => {
    const { served, maxTokens } = record.get(person);
    const { tokens, requests } = served;
    const budgets = await read(person);
    for (const { unit, amount } of budgets) {
      // A request is one of its budget from the reservation on; tokens are known in the end.
      const excess = unit === "requests" ? requests - amount : tokens - amount;
      const allowed = unit === "requests" ? 0 : clients * maxTokens;
      assert.ok(
        excess <= allowed,
        `${person} has exceeded the budget of ${amount} ${unit} by ${excess}; ${clients} requests in flight explain ${allowed}`,
      );
      if (unit === "tokens") maxExcess = Math.max(maxExcess, excess);
    }
    return budgets;
  };
  const raise = async (person: string) => {
    const budgets = await check(person);
    const full = budgets.filter(({ spent, reserved, amount }) => spent + reserved >= amount);
    for (const { unit, spent, reserved } of full) {
      const amount = spent + reserved + STEP[unit as keyof typeof STEP];
      await kernel.team.setBudget({ person, unit, amount, period: "total" }, { by: BY });
      raises++;
    }
  };
  return {
    name: "budgets",
    done: () => raises,
    async run(signal) {
      while (!signal.aborted) {
        for (const person of record.people.keys()) await check(person);
        await sleep(1_000, undefined, { signal }).catch(() => undefined);
      }
    },
    async raise(person) {
      record.get(person).refusals++;
      const running = raising.get(person) ?? raise(person).finally(() => raising.delete(person));
      raising.set(person, running);
      await running;
    },
    async verify() {
      let counted = 0;
      for (const [person, { served, failures, maxEstimate }] of record.people) {
        const [tokens] = await check(person);
        const used = (tokens?.spent ?? 0) + (tokens?.reserved ?? 0);
        counted += used;
        assert.ok(
          used >= served.tokens,
          `the provider has served ${served.tokens} tokens to ${person}, but only ${used} are counted`,
        );
        const explained = served.tokens + failures * maxEstimate;
        assert.ok(
          used <= explained,
          `${person} is charged ${used} tokens, but ${served.tokens} were served and ${failures} requests failed`,
        );
      }
      const team = (await kernel.team.budgets()).find(({ person }) => person === undefined);
      const ofTeam = (team?.spent ?? 0) + (team?.reserved ?? 0);
      assert.ok(
        Math.abs(ofTeam - counted) < 1,
        `the team has used ${ofTeam} tokens, its people together ${counted}`,
      );
      const all = [...record.people.values()];
      const sum = (get: (one: (typeof all)[number]) => number) =>
        all.reduce((total, one) => total + get(one), 0);
      return {
        people: all.length,
        served: sum(({ served }) => served.tokens),
        counted: Math.round(counted),
        refusals: sum(({ refusals }) => refusals),
        raises,
        maxExcess: Math.max(0, Math.round(maxExcess)),
      };
    },
  };
}
