/** One round of a contestant. */
export type RoundOf<Result> = (round: number) => Promise<Result> | Result;

/**
 * Runs rounds of several contestants in turn, so that a slow moment of the machine affects all of them and each goes
 * first equally often. Returns the results of each contestant.
 */
export async function alternate<Name extends string, Result>(
  rounds: number,
  contestants: Readonly<Record<Name, RoundOf<Result>>>,
): Promise<Record<Name, Result[]>> {
  const names = Object.keys(contestants) as Name[];
  const results = Object.fromEntries(names.map((name) => [name, [] as Result[]])) as Record<Name, Result[]>;
  for (let round = 0; round < rounds; round++) {
    for (let turn = 0; turn < names.length; turn++) {
      const name = names[(round + turn) % names.length] as Name;
      results[name].push(await contestants[name](round));
    }
  }
  return results;
}
