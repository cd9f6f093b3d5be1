// Holds the categories to what the service promises of every resource: keys, scopes, errors, headers.
// Run with: node --test
import { after, describe, it } from 'node:test';
import { bindContract, listenerSubjects, resourceContract } from 'animal-store/contract';
import { createKoaApp } from 'animal-store/koa';
import { categoriesRouter, memoryCategories } from './categories.mjs';

const router = categoriesRouter(memoryCategories('Dogs', 'Cats'));
const open = listenerSubjects((http) => createKoaApp(http, router).callback());
bindContract(resourceContract('/categories'), open, { describe, it, after });
