// The frame of the page: who is signed in, the screens, and which of them the address shows.

import type { JSX } from "preact";
import { ErrorBoundary, lazy, LocationProvider, Route, Router, useLocation } from "preact-iso";
import { useEffect, useState } from "preact/hooks";

import { connection, resume, signOut } from "./connection.js";
import { SignIn } from "./sign-in.js";
import { Name } from "./parts/stored.js";
import { ThemeButton } from "./theme.js";

export const BASE = "/console";

interface Screen {
  path: string;
  title: string;
  /** The icon's outline, in a square of 24. */
  icon: string;
}

const SCREENS: Screen[] = [
  { path: "/now", title: "Now", icon: "M3 12h4l3-8 4 16 3-8h4" },
  { path: "/why", title: "Why", icon: "M12 20v-1m0-4c0-4 4-3 4-7a4 4 0 0 0-8 0" },
  { path: "/explore", title: "Explore", icon: "M16 16l5 5M18 11a7 7 0 1 1-14 0 7 7 0 0 1 14 0z" },
  { path: "/review", title: "Review", icon: "M4 12l5 5L20 6" },
  { path: "/sessions", title: "Sessions", icon: "M4 6h16M4 12h10M4 18h6" },
  { path: "/tune", title: "Tune and pay", icon: "M4 7h10m4 0h2M4 17h4m4 0h8M14 4v6M8 14v6" },
  { path: "/keys", title: "Keys", icon: "M14 10a4 4 0 1 0-3 3l1 1h2v2h2v2h4v-3z" },
];

const Now = lazy(() => import("./now/screen.js").then((module) => module.Now));
const Why = lazy(() => import("./why/screen.js").then((module) => module.Why));
const Explore = lazy(() => import("./explore/screen.js").then((module) => module.Explore));
const ExploreItem = lazy(() => import("./explore/item.js").then((module) => module.ExploreItem));
const Facts = lazy(() => import("./explore/graph.js").then((module) => module.Facts));
const Keys = lazy(() => import("./keys/screen.js").then((module) => module.Keys));
const Review = lazy(() => import("./review/screen.js").then((module) => module.Review));
const Sessions = lazy(() => import("./sessions/screen.js").then((module) => module.Sessions));
const SessionObject = lazy(() => import("./sessions/object.js").then((module) => module.SessionObject));
const SessionOne = lazy(() => import("./sessions/one.js").then((module) => module.SessionOne));
const Tune = lazy(() => import("./tune/screen.js").then((module) => module.Tune));
const WhyOne = lazy(() => import("./why/one.js").then((module) => module.WhyOne));

export function App() {
  const [asked, setAsked] = useState(false);
  useEffect(() => void resume().then(() => setAsked(true)), []);
  if (!asked) return <p class="waiting">Signing in …</p>;
  if (connection.value === null) return <SignIn />;
  return (
    <LocationProvider scope={BASE}>
      <a class="skip" href="#main">
        Skip to the screen
      </a>
      <Top />
      <Navigation />
      <main id="main" tabIndex={-1}>
        <ErrorBoundary>
          <Router>
            <Route path={`${BASE}/now`} component={Now} />
            <Route path={`${BASE}/why`} component={Why} />
            <Route path={`${BASE}/why/:id`} component={WhyOne} />
            <Route path={`${BASE}/explore`} component={Explore} />
            <Route path={`${BASE}/explore/item/:handle`} component={ExploreItem} />
            <Route path={`${BASE}/explore/facts/:entity`} component={Facts} />
            <Route path={`${BASE}/review`} component={Review} />
            <Route path={`${BASE}/sessions`} component={Sessions} />
            <Route path={`${BASE}/sessions/:id`} component={SessionOne} />
            <Route path={`${BASE}/tune`} component={Tune} />
            <Route path={`${BASE}/keys`} component={Keys} />
            <Route path={`${BASE}/sessions/:id/objects/:object`} component={SessionObject} />
            <Route default component={Elsewhere} />
          </Router>
        </ErrorBoundary>
      </main>
    </LocationProvider>
  );
}

function Top() {
  const me = connection.value?.me;
  return (
    <header class="top">
      <a class="brand" href={`${BASE}/now`}>
        Scrubjay
      </a>
      <p class="who">
        <Name text={me?.tenant} /> · <Name text={me?.name} />
        {me?.agent && (
          <>
            {" "}
            · agent <Name text={me.agent} />
          </>
        )}
      </p>
      <ThemeButton />
      <button type="button" class="quiet" onClick={signOut}>
        Sign out
      </button>
    </header>
  );
}

function Navigation() {
  const { path } = useLocation();
  return (
    <nav class="screens" aria-label="Screens">
      {SCREENS.map((screen) => (
        <a
          key={screen.path}
          href={BASE + screen.path}
          aria-current={path.startsWith(BASE + screen.path) ? "page" : undefined}
        >
          <Icon outline={screen.icon} />
          <span>{screen.title}</span>
        </a>
      ))}
    </nav>
  );
}

function Icon({ outline }: { outline: string }): JSX.Element {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
      <path d={outline} />
    </svg>
  );
}

/** The first screen stands behind the bare address. */
function Elsewhere() {
  const { path, route } = useLocation();
  const bare = path === BASE || path === `${BASE}/`;
  useEffect(() => {
    if (bare) route(`${BASE}/now`, true);
  }, [bare]);
  return bare ? null : (
    <section>
      <h1>No such screen</h1>
      <p>
        Nothing is shown at this address. <a href={`${BASE}/now`}>See what happens now.</a>
      </p>
    </section>
  );
}
