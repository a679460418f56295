-- Without a default at first: Postgres would rewrite the whole journal for one that differs in each row.
ALTER TABLE "chain_relayer"."journal" ADD COLUMN "booked_in" bigint;--> statement-breakpoint
ALTER TABLE "chain_relayer"."journal" ALTER COLUMN "booked_in" SET DEFAULT (pg_current_xact_id()::text)::bigint;--> statement-breakpoint
CREATE INDEX "journal_booked_in" ON "chain_relayer"."journal" USING brin ("booked_in");