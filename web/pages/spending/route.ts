import type { PageRoute } from "../../shell/page-route.ts";

export const route: PageRoute = {
  paths: ["/spending"],
  label: { en: "Spending", zh: "支出" },
  load: () => import("./page.tsx"),
};
