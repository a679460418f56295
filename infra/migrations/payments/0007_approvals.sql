CREATE TABLE "payments"."approvals" (
	"command" uuid NOT NULL,
	"hash" text NOT NULL,
	"by" text NOT NULL,
	"second" text,
	"beneficiary" text NOT NULL,
	"micro" numeric(78,0),
	"counts" boolean DEFAULT true NOT NULL,
	"approved_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "approvals_command_hash_pk" PRIMARY KEY("command","hash"),
	CONSTRAINT "approvals_pair" CHECK ("payments"."approvals"."second" <> "payments"."approvals"."by")
);
--> statement-breakpoint
CREATE INDEX "approvals_lately" ON "payments"."approvals" USING btree ("approved_at");