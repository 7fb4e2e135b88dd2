/** True in `npm run proof`, which runs the long proofs in full. */
const isProof = process.env.LONGHAUL_PROOF === "1";

/** The number of cases or rounds to run: `full` in a proof, a tenth of it and at least 10 in the everyday suite. */
export function proofRounds(full: number): number {
  return isProof ? full : Math.min(full, Math.max(10, Math.ceil(full / 10)));
}
