// Records what the project's code answers a test file: the outermost calls from the file into it,
// and what that code replaced meanwhile that is not its own.
// It becomes the first line of the test file, so every line ends a statement or opens a block.
const retraiRecorder = (report, cases, script) => {
  const builtin = (name) => process.getBuiltinModule(name);
  const fs = builtin('fs');
  const util = builtin('util');
  const assert = builtin('assert');
  const { openSync, writeSync } = fs;
  const { types } = util;
  const { serialize } = builtin('v8');
  const { text, failure, isData, changesOf, nameOf } = valuesOf(util);
  const { stringify } = JSON;
  const { apply, construct, ownKeys } = Reflect;
  const { is, getOwnPropertyDescriptor: descriptor, getPrototypeOf: prototypeOf } = Object;
  const { then } = Promise.prototype;
  const workingFolder = process.cwd;
  const MAX_CALLS = 200;
  const MAX_LOOKS = 1000;
  const MAX_SAID = 5;
  const out = openSync(report, 'a');
  const write = (line) => writeSync(out, `${stringify(line)}\n`);
  const matchers = globalThis[Symbol.for('$$jest-matchers-object')]?.matchers;
  // Where the test file declares its own, even `typeof` throws before that line.
  let expecting;
  try {
    expecting = expect;
  } catch {
    expecting = globalThis.expect;
  }
  const assertion = typeof expecting === 'function' ? prototypeOf(expecting(0)) : undefined;
  // Node replaces process.chdir when it loads them.
  builtin('worker_threads');
  const judges = {
    assert, 'assert.strict': assert.strict, JSON, 'the matchers of expect': matchers,
    'what expect gives': assertion === Object.prototype ? undefined : assertion,
  };
  const others = {
    Reflect, Math, globalThis, util, fs, process, performance: globalThis.performance,
    'fs.promises': fs.promises, path: builtin('path'), os: builtin('os'), child_process: builtin('child_process'),
    events: builtin('events').prototype, module: builtin('module'), 'module.prototype': builtin('module').prototype,
  };
  for (const name of ownKeys(globalThis)) {
    const found = descriptor(globalThis, name).value;
    if (typeof found === 'function' && /\[native code\]/.test(apply(Function.prototype.toString, found, []))) Object.assign(others, { [name]: found, [`${String(name)}.prototype`]: found.prototype });
  }
  const watched = [];
  const extended = [];
  const watch = (name, object, judge) => {
    if (object === null || (typeof object !== 'object' && typeof object !== 'function')) return;
    extended.push({ name, object, keys: new Set(ownKeys(object)) });
    for (const key of ownKeys(object)) {
      const found = descriptor(object, key);
      if (typeof found.value === 'function') watched.push({ name: `${name}.${String(key)}`, object, key, value: found.value, judge });
    }
  };
  for (const [name, object] of Object.entries(judges)) watch(name, object, true);
  for (const [name, object] of Object.entries(others)) watch(name, object, name === 'Object' ? 'is' : false);
  const reported = new Set();
  const noteSign = (what, alone, added = '') => {
    if (reported.has(what)) return;
    reported.add(what);
    write({ sign: what, alone, added });
  };
  const additions = () => extended.flatMap(({ name, object, keys }) => {
    const now = ownKeys(object);
    const added = now.length > keys.size ? now.filter((key) => !keys.has(key)) : [];
    for (const key of added) keys.add(key);
    const acting = added.filter((key) => typeof (descriptor(object, key).get ?? descriptor(object, key).value) === 'function');
    // One that hides an inherited one replaces it.
    return acting.map((key) => [`${name}.${String(key)}`, object === Object.prototype || typeof key === 'symbol' || key in (prototypeOf(object) ?? {}) ? '' : key]);
  });
  let folder = workingFolder();
  let looks = 0;
  const compare = (tell) => {
    for (const each of watched) {
      const before = each.value;
      each.value = descriptor(each.object, each.key)?.value;
      if (each.value !== before && typeof before === 'function') tell(each);
    }
  };
  const refresh = () => {
    compare(({ name }) => noteSign(`${name} is replaced while the tests run`, false));
    additions();
    folder = workingFolder();
  };
  const look = (where) => {
    compare(({ name, key, judge }) => noteSign(`${where} replaces ${name}`, judge === true || key === judge));
    for (const [what, key] of additions()) noteSign(`${where} adds ${what}`, false, key);
    if (workingFolder() !== folder) noteSign(`${where} changes the working folder`, false);
  };
  const without = (where, work) => {
    if (looks > MAX_LOOKS) return work();
    looks += 1;
    refresh();
    try {
      return work();
    } finally {
      look(where);
    }
  };
  let current = script;
  let calls = 0;
  let depth = 0;
  let number = 0;
  // It says later numbers later, or less is left, whatever it is asked for.
  const isClock = (asked) => [1, -1].some((way) => asked.every((one, at) => at === 0 || (one - asked[at - 1]) * way >= 0)) && asked[0] !== asked[2] && asked[1] !== asked[3];
  const inner = (value) => {
    try {
      const convert = value?.[Symbol.toPrimitive];
      if (typeof convert === 'function') {
        const asked = ['number', 'default', 'number', 'default'].map((hint) => apply(convert, value, [hint]));
        return typeof asked[0] === typeof asked[1] && !isClock(asked) ? asked : undefined;
      }
      const kind = types.isBoxedPrimitive(value) ? [Number, String, Boolean, BigInt, Symbol].find((one) => value instanceof one) : undefined;
      return kind && [apply(kind.prototype.valueOf, value, []), value.valueOf()];
    } catch {
      return undefined;
    }
  };
  const reportFalseIdentity = (value, where) => {
    if (typeof value?.asymmetricMatch === 'function') noteSign(`${where} answers with an object that decides what it equals by asymmetricMatch`, true);
    if (Array.isArray(value) && Object.hasOwn(value, 'toJSON')) noteSign(`${where} answers with an array with a toJSON of its own`, true);
    const found = inner(value);
    if (found === undefined || found.every((one) => is(one, found[0]))) return;
    noteSign(`${where} answers with an object whose conversions give two values`, true);
  };
  const note = (call, again, whole) => {
    if (current === '') return undefined;
    calls += 1;
    if (calls > MAX_CALLS + 1) return undefined;
    number += 1;
    return { case: current, number, call, again, whole: whole && calls <= MAX_CALLS };
  };
  const say = (line, answer, whole) => {
    if (line) write({ ...line, answer, whole: line.whole && whole });
  };
  const packed = (path, name, args) => {
    try {
      const data = args.every((each) => isData(each)) ? serialize(args).toString('base64') : '';
      return data === '' || data.length > 8000 ? '' : stringify({ path, name, args: data });
    } catch {
      return '';
    }
  };
  const seen = new WeakMap();
  const raw = new WeakMap();
  const unwrapped = (value) => raw.get(value) ?? value;
  // An object of the project's own class that shows all it holds: without private fields.
  const isShown = (value) => typeof value.constructor === 'function' && seen.has(value.constructor) && !apply(Function.prototype.toString, value.constructor, []).includes('#');
  const isKnown = (value) => isData(value, { bare: unwrapped, isShown });
  const proxied = (value, handler) => {
    const made = new Proxy(value, handler);
    seen.set(value, made);
    raw.set(made, value);
    return made;
  };
  const followed = (path, value) => {
    if (typeof value !== 'object' || value === null || types.isProxy(value) || !seen.has(value.constructor)) return value;
    if (!seen.has(value)) {
      const methods = new Map();
      const method = (key, found) => {
        if (!methods.has(found)) methods.set(found, new Proxy(found, { apply: (body, self, args) => record(path, key, args.map(unwrapped), () => apply(body, value, args.map(unwrapped)), value) }));
        return methods.get(found);
      };
      proxied(value, {
        get: (object, key) => {
          const found = Reflect.get(object, key, object);
          if (key === 'constructor' || (typeof key === 'symbol' && typeof found !== 'function')) return found;
          const name = typeof key === 'symbol' ? `[${key.description}]` : key;
          return typeof found === 'function' ? method(name, found) : record(path, name, [], () => found, value, true);
        },
      });
    }
    return seen.get(value);
  };
  // What an iterator gives is an answer, in its order; nothing is asked of it before the test does.
  const iterated = (path, iterator, line, changes) => {
    const values = [];
    let isOver = false;
    let whole = true;
    const update = () => say(line, `yields ${values.join(', ')}${isOver ? '' : ', ...'}${changes()}`, whole);
    const end = () => {
      if (isOver) return;
      isOver = true;
      update();
      look(path);
    };
    const take = (step) => {
      if (step.done) {
        end();
      } else if (values.length < MAX_CALLS) {
        values.push(text(step.value));
        whole = whole && isData(step.value);
        if (values.length <= MAX_SAID) update();
      } else {
        whole = false;
      }
      return step;
    };
    const failed = (error) => {
      values.push(failure(error));
      end();
      throw error;
    };
    const through = (key) => (...args) => {
      depth += 1;
      let step;
      try {
        step = iterator[key](...args);
      } catch (error) {
        failed(error);
      } finally {
        depth -= 1;
      }
      if (key === 'return') end();
      return types.isPromise(step) ? apply(then, step, [take, failed]) : take(step);
    };
    const known = ['next', 'return', 'throw'].filter((key) => typeof iterator[key] === 'function');
    const steps = Object.fromEntries(known.map((key) => [key, through(key)]));
    return new Proxy(iterator, { get: (object, key) => (Object.hasOwn(steps, key) ? steps[key] : Reflect.get(object, key, object)) });
  };
  const record = (path, name, args, work, self, isRead = false) => {
    if (depth > 0) return work();
    if (current === '') return without(path, work);
    const where = `${path}: ${name || 'the module'}`;
    const before = args.map(text);
    const state = self === undefined ? '' : text(self);
    const owner = state === '' ? '' : `(${state})${name.startsWith('[') ? '' : '.'}`;
    const shown = `${owner}${nameOf(path, name)}${isRead ? '' : `(${before.join(', ')})`}`;
    const again = self === undefined ? packed(path, name, args) : '';
    const line = note(shown, again, args.every((each) => isKnown(each)));
    const changes = () => (self === undefined || text(self) === state ? '' : `; this: ${text(self)}`) + changesOf(args, before);
    depth += 1;
    let answer;
    try {
      answer = without(where, work);
    } catch (error) {
      say(line, failure(error) + changes(), true);
      throw error;
    } finally {
      depth -= 1;
    }
    reportFalseIdentity(answer, where);
    const given = followed(path, answer);
    if (types.isGeneratorObject(answer) || (isPlain(answer) && typeof answer.next === 'function')) {
      if (line) line.again = '';
      say(line, 'yields nothing yet', false);
      return line ? iterated(path, answer, line, changes) : answer;
    }
    if (types.isPromise(answer)) {
      say(line, 'never settles', false);
      const settle = (outcome, value) => {
        look(where);
        say(line, outcome + changes(), isData(value) && value !== undefined);
      };
      apply(then, answer, [(value) => settle(`resolves ${text(value)}`, value), (error) => settle(`rejects ${failure(error)}`, null)]);
    } else {
      const effect = changes();
      say(line, text(answer) + effect, (isData(answer) || given !== answer) && (answer !== undefined || effect !== ''));
    }
    return given;
  };
  const isPlain = (value) => typeof value === 'object' && value !== null && prototypeOf(value) !== null && prototypeOf(prototypeOf(value)) === null;
  const wrapped = (path, name, value, level) => {
    const isFunction = typeof value === 'function';
    if (types.isProxy(value) || !(isFunction || (level === 0 ? typeof value === 'object' && value !== null : level === 1 && isPlain(value)))) return value;
    if (seen.has(value)) return seen.get(value);
    return proxied(value, {
      get: (object, key) => {
        const found = Reflect.get(object, key, object);
        const fixed = descriptor(object, key);
        if (typeof key === 'symbol' || (fixed && fixed.configurable === false && fixed.writable === false) || (isFunction && (level > 0 || !Object.hasOwn(object, key) || key === 'prototype'))) return found;
        return wrapped(path, name === '' ? key : `${name}.${key}`, found, level + 1);
      },
      apply: (object, self, args) => record(path, name, args.map(unwrapped), () => apply(object, unwrapped(self), args.map(unwrapped))),
      construct: (object, args, kind) => record(path, name, args.map(unwrapped), () => construct(object, args.map(unwrapped), unwrapped(kind))),
    });
  };
  const followedTest = (body, name) => {
    const test = function (...args) {
      current = name;
      calls = 0;
      for (const [path, data] of constants) say(note(`the constants of ${path}`, stringify({ path }), true), data, true);
      let ended;
      try {
        ended = apply(body, this, args);
        return ended;
      } finally {
        if (types.isPromise(ended)) apply(then, ended, [refresh, refresh]);
        else refresh();
      }
    };
    return Object.defineProperty(test, 'length', { value: body.length });
  };
  const titles = new Set();
  const constants = new Map();
  const own = (path, exported) => {
    const data = Object.entries(exported ?? {}).filter(([, value]) => isData(value));
    if (data.length > 0) constants.set(path, text(data));
    return wrapped(path, '', exported, 0);
  };
  const root = `${folder}/`;
  const isTest = /(?:^|\/)(?:tests?|spec|__tests__|__mocks__|e2e)\/|\.(?:test|spec)\./;
  const loadedTests = (cache) => Object.keys(cache ?? {}).filter((file) => file.startsWith(root) && isTest.test(file.slice(root.length)));
  return {
    watch: (path, found) => {
      watch(path, found, false);
      if (typeof found === 'object' && found !== null) for (const [key, value] of Object.entries(found)) watch(`${path}: ${key}`, value, false);
      return found;
    },
    load: (path, work, cache) => {
      const before = loadedTests(cache);
      const found = without(path, work);
      const added = loadedTests(cache).filter((file) => !before.includes(file));
      // One more file of a folder that it loads from anyway is nothing new.
      for (const file of added) noteSign(`${path} loads ${file.slice(root.length).replace(/[^/]*$/, '') || 'a test'}`, true);
      return own(path, found);
    },
    loading: async (path, work) => {
      refresh();
      const found = await work();
      look(path);
      return own(path, found);
    },
    loaded: own,
    test: (declare) => (...given) => {
      const title = given[0];
      const meant = cases.filter((each) => each.endsWith(`::${String(title)}`));
      // Nobody knows which of several tests of one name is meant.
      const isUnsure = meant.length !== 1 || titles.has(title);
      titles.add(title);
      for (const each of isUnsure ? meant : []) write({ case: each });
      const name = isUnsure ? '' : meant[0];
      return declare(...given.map((each) => (typeof each === 'function' ? followedTest(each, name) : each)));
    },
  };
};
