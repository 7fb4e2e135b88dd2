import type { Principal } from "./door/principal.ts";
import type { Services } from "./exchange/services.ts";
import type { FormerPeople } from "./identity/former-people.ts";

/** Dependencies of `completePerson`. */
interface PersonDeps {
  readonly services: Services;
  readonly formerPeople: FormerPeople;
  readonly onError: (error: unknown) => void;
}

/**
 * The principal with former ids, and for a token of the configuration with the store's person of its name. Returns no
 * promise if they are known.
 */
export function completePerson(principal: Principal, deps: PersonDeps): Principal | Promise<Principal> {
  const completing = deps.formerPeople.complete(principal);
  const { token, person } = principal;
  return token === undefined || person ? completing : findPerson(completing, token, deps);
}

async function findPerson(
  completing: Principal | Promise<Principal>,
  token: string,
  { services, onError }: PersonDeps,
): Promise<Principal> {
  const complete = await completing;
  if (!(await services.spending.state.isInUse())) return complete;
  const found = await services.kernel.team.find(token).catch(onError);
  return found ? { ...complete, person: found } : complete;
}
