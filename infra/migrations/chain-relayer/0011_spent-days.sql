CREATE TABLE "chain_relayer"."spent_days" (
	"signer" text NOT NULL,
	"spending" text NOT NULL,
	"day" timestamp (3) with time zone NOT NULL,
	"total" numeric(78,0) NOT NULL,
	CONSTRAINT "spent_days_signer_spending_day_pk" PRIMARY KEY("signer","spending","day")
);
--> statement-breakpoint
DROP INDEX "chain_relayer"."spent_of_day";--> statement-breakpoint
INSERT INTO "chain_relayer"."spent_days" ("signer", "spending", "day", "total")
SELECT "signer", "spending", date_trunc('day', "created_at" AT TIME ZONE 'UTC') AT TIME ZONE 'UTC', sum("amount")
FROM "chain_relayer"."spent" GROUP BY 1, 2, 3;
