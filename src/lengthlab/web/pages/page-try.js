import { server } from "./server.js";
import { startTry } from "./try.js";

startTry(server);
