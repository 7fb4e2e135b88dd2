import type { PageRoute } from "../../shell/page-route.ts";

export const route: PageRoute = {
  paths: ["/sign-in"],
  label: { en: "Sign in", zh: "登录" },
  load: () => import("./page.tsx"),
};
