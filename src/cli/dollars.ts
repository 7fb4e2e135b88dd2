const SMALL = formatter(4);
const LARGE = formatter(2);

/** Formats an amount with two digits from $1 on, else with four: "$1,204.50", "$0.0371". */
export function formatDollars(dollars: number): string {
  if (dollars === 0) return "$0";
  return `$${(Math.abs(dollars) >= 1 ? LARGE : SMALL).format(dollars)}`;
}

function formatter(digits: number): Intl.NumberFormat {
  return new Intl.NumberFormat("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}
