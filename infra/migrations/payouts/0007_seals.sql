-- Without a default at first: Postgres would rewrite the whole journal for one that differs in each row.
ALTER TABLE "payouts"."journal" ADD COLUMN "booked_in" bigint;--> statement-breakpoint
ALTER TABLE "payouts"."journal" ALTER COLUMN "booked_in" SET DEFAULT (pg_current_xact_id()::text)::bigint;--> statement-breakpoint
CREATE INDEX "journal_booked_in" ON "payouts"."journal" USING brin ("booked_in");